#include "cats/cats.hpp"
