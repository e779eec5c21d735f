#include "common/described.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/names.hpp"
#include "common/tests/described_members.hpp"

namespace engineroom::bakery {

enum class Bread { rye, wheat, none };
constexpr auto named(names::Of<Bread>) {
  return names::table<Bread>("bread",
                             {{"rye", Bread::rye}, {"wheat 550", Bread::wheat}, {"none", Bread::none}});
}

struct Heat {
  std::int64_t degrees = 220;
  std::vector<std::int64_t> minutes{40};
};

struct Oven {
  std::uint8_t loaves = 6;
  std::uint64_t grams = 750;
  bool has_steam = true;
  Bread bread = Bread::rye;
  Heat heat{};
  std::uint32_t trays = 4;
};
constexpr auto described(options::Of<Oven>) {
  using C = Oven;
  return options::list<C>(
      "an oven",
      {
          options::option<&C::loaves>({.least = 1}, "what it bakes at a time"),
          options::option<&C::grams>({.least = 250, .most = 2000, .multiple_of = 250}, "of each"),
          options::option<&C::has_steam>("whether it steams"),
          options::option<&C::bread>("what it bakes"),
          options::option<&C::heat, &Heat::degrees>({.least = -20, .most = 300}, "how hot"),
          options::only_element<&C::heat, &Heat::minutes>("minutes", {.least = 1}, "how long"),
          options::option<&C::heat, &Heat::minutes>("minutes_each", {.least = 1}, "how long, by loaf"),
          options::option<&C::trays>({.least = 2, .is_power_of_two = true}, "how many"),
      });
}
void check_together(const Oven& oven) {
  if (oven.loaves * oven.grams > 12'000) refuse("the loaves weigh more than 12 kg: bake fewer");
}

struct Shop {
  std::optional<std::uint32_t> queue;
};
constexpr auto described(options::Of<Shop>) {
  return options::list<Shop>("a shop", {options::option<&Shop::queue>({.least = 1}, "who waits")});
}

template <typename Call>
std::string refusal(const Call& call) {
  try {
    call();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "(nothing was refused)";
}

std::string refused(std::string_view name, const options::Value& value) {
  return refusal([&] {
    Oven oven;
    options::assign(oven, name, value);
  });
}

TEST(Names, AreParsedPrintedAndListed) {
  EXPECT_EQ(names::parse<Bread>("wheat 550"), Bread::wheat);
  EXPECT_EQ(names::of(Bread::none), "none");
  EXPECT_EQ(names::list<Bread>().size(), 3U);
  for (const std::string_view name : names::list<Bread>())
    EXPECT_EQ(names::of(names::parse<Bread>(name)), name);
}

TEST(Names, AnUnknownOneIsAnsweredWithAllOfThem) {
  EXPECT_EQ(refusal([] { names::parse<Bread>("Rye"); }),
            "bread must be 'rye', 'wheat 550' or 'none', got 'Rye'");
  EXPECT_EQ(refusal([] { names::parse<Bread>("", "the first loaf"); }),
            "the first loaf must be 'rye', 'wheat 550' or 'none', got ''");
}

TEST(Described, OptionsAreAssignedByName) {
  Oven oven;
  options::assign(oven, "loaves", std::int64_t{255});
  options::assign(oven, "has_steam", false);
  options::assign(oven, "bread", std::string_view("none"));
  options::assign(oven, "degrees", std::int64_t{-20});
  options::assign(oven, "minutes_each", options::Integers{30, 35});
  EXPECT_EQ(oven.loaves, 255);
  EXPECT_FALSE(oven.has_steam);
  EXPECT_EQ(oven.bread, Bread::none);
  EXPECT_EQ(oven.heat.degrees, -20);
  EXPECT_EQ(oven.heat.minutes, (std::vector<std::int64_t>{30, 35}));
  options::assign(oven, "minutes", std::int64_t{20});
  EXPECT_EQ(oven.heat.minutes, std::vector<std::int64_t>{20});
  options::assign(oven, "has_steam", std::int64_t{1});
  EXPECT_TRUE(oven.has_steam);
}

TEST(Described, AnUnknownOptionIsAnsweredWithAllOfThem) {
  EXPECT_EQ(
      refused("loafs", std::int64_t{1}),
      "an oven has no option 'loafs'; its options are loaves, grams, has_steam, bread, degrees, minutes, "
      "minutes_each, trays");
}

TEST(Described, AValueOfTheWrongTypeIsRefusedWithTheValue) {
  EXPECT_EQ(refused("loaves", true), "loaves must be an integer, got True");
  EXPECT_EQ(refused("loaves", options::Foreign{"1.5"}), "loaves must be an integer, got 1.5");
  EXPECT_EQ(refused("loaves", options::None{}), "loaves must be an integer, got None");
  EXPECT_EQ(refused("loaves", options::Integers{1, 2}), "loaves must be an integer, got [1, 2]");
  EXPECT_EQ(refused("has_steam", std::int64_t{2}), "has_steam must be True or False, got 2");
  EXPECT_EQ(refused("has_steam", std::string_view("yes")), "has_steam must be True or False, got 'yes'");
  EXPECT_EQ(refused("bread", std::int64_t{0}), "bread must be 'rye', 'wheat 550' or 'none', got 0");
  EXPECT_EQ(refused("bread", std::string_view("oat")),
            "bread must be 'rye', 'wheat 550' or 'none', got 'oat'");
  EXPECT_EQ(refused("minutes_each", std::int64_t{5}),
            "minutes_each must be a list of at least one integer, got 5");
  EXPECT_EQ(refused("minutes_each", options::Integers{}),
            "minutes_each must be a list of at least one integer, got []");
}

TEST(Described, AValueOutOfRangeIsRefusedWithTheRange) {
  EXPECT_EQ(refused("loaves", std::int64_t{0}), "loaves must be at least 1, got 0");
  EXPECT_EQ(refused("loaves", std::int64_t{256}), "loaves must be at most 255, got 256");
  EXPECT_EQ(refused("loaves", options::Foreign{"18446744073709551616", true}),
            "loaves must be at most 255, got 18446744073709551616");
  EXPECT_EQ(refused("degrees", std::int64_t{301}), "degrees must be -20 to 300, got 301");
  EXPECT_EQ(refused("grams", std::int64_t{700}), "grams must be a multiple of 250 from 250 to 2000, got 700");
  EXPECT_EQ(refused("trays", std::int64_t{6}), "trays must be a power of two from 2 on, got 6");
  EXPECT_EQ(refused("minutes", std::int64_t{0}), "minutes must be at least 1, got 0");
  EXPECT_EQ(refused("minutes_each", options::Integers{5, -1}),
            "each of minutes_each must be at least 1, got -1");
}

TEST(Described, AStructThatCodeFilledIsCheckedAsAWhole) {
  EXPECT_EQ(refusal([] { options::check(Oven{}); }), "(nothing was refused)");
  EXPECT_EQ(refusal([] { options::check(Oven{.loaves = 0}); }), "loaves must be at least 1, got 0");
  EXPECT_EQ(refusal([] {
              options::check(Oven{.heat = {.minutes = {1, 0}}});
            }),
            "each of minutes_each must be at least 1, got 0");
  EXPECT_EQ(refusal([] { options::check(Oven{.heat = {.minutes = {}}}); }),
            "minutes_each must be a list of at least one integer, got []");
  EXPECT_EQ(refusal([] { options::check(Oven{.loaves = 20}); }),
            "the loaves weigh more than 12 kg: bake fewer");
  EXPECT_EQ(refusal([] { options::check(Oven{.bread = static_cast<Bread>(7)}); }),
            "bread must be 'rye', 'wheat 550' or 'none', got ''");
}

TEST(Described, WhatMayBeMissingTakesNone) {
  Shop shop;
  options::assign(shop, "queue", std::int64_t{3});
  EXPECT_EQ(shop.queue, 3U);
  options::assign(shop, "queue", options::None{});
  EXPECT_EQ(shop.queue, std::nullopt);
  EXPECT_EQ(refusal([&] { options::assign(shop, "queue", std::string_view("long")); }),
            "queue must be an integer or None, got 'long'");
  options::check(shop);
}

TEST(Described, TheDocumentationSaysRangeAndDefault) {
  EXPECT_EQ(options::documentation<Oven>(),
            "loaves: what it bakes at a time; at least 1, default 6\n"
            "grams: of each; a multiple of 250 from 250 to 2000, default 750\n"
            "has_steam: whether it steams; default True\n"
            "bread: what it bakes; 'rye', 'wheat 550' or 'none', default 'rye'\n"
            "degrees: how hot; -20 to 300, default 220\n"
            "minutes: how long; at least 1, default 40\n"
            "minutes_each: how long, by loaf; at least 1, default [40]\n"
            "trays: how many; a power of two from 2 on, default 4");
}

TEST(Described, AMemberThatIsLeftOutIsSeen) {
  EXPECT_EQ(tests::members<Oven>(), 6U);
  EXPECT_EQ(tests::described_members<Oven>(), 6U);
}

}  // namespace engineroom::bakery
