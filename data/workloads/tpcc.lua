-- TPC-C's five transactions for SysBench: engineroom.workloads.tpcc_sysbench writes what stands before this text.
--   sql          transaction.statement -> text, with ? for each value
--   mix          {transaction, percent}, one after the other
--   size         warehouses, districts, customers (of a district), items, last_orders (that Stock-Level looks at)
--   percent      by_name, remote_payment, remote_line, rolled_back
--   last_names   of customers, from the first
-- The terminal of tpcc_terminal.py does the same, statement by statement; a test holds the two together.

local rand = sysbench.rand.uniform
local con

sysbench.cmdline.options = {
  tables = {"as for SysBench's own scripts; not used", 1},
  table_size = {"as for SysBench's own scripts; not used", 0},
}

-- Send a statement and take its rows. A test puts something else here, and for `start`.
function send(name, text)
  local result, rows = con:query(text), {}
  if result ~= nil then  -- a null pointer is no false
    for i = 1, result.nrows do rows[i] = result:fetch_row() end
  end
  return rows
end

function start()
  con = sysbench.sql.driver():connect()
  con:query("SET autocommit = 0")
end

local function literal(value)
  if type(value) == "string" then return "'" .. value:gsub("\\", "\\\\"):gsub("'", "''") .. "'" end
  return value % 1 == 0 and ("%d"):format(value) or ("%.2f"):format(value)
end

-- A function that asks for a statement of that transaction by its name and values.
local function asks(kind, district)
  return function(statement, ...)
    local name, values, at = kind .. "." .. statement, {...}, 0
    local text = sql[name]
    if district then text = text:gsub("{district}", ("%02d"):format(district)) end
    text = text:gsub("%?", function()
      at = at + 1
      return literal(values[at])
    end)
    return send(name, text)
  end
end

-- The specification's non-uniform random number (clause 2.1.6).
local function uneven(a, low, high)
  return (bit.bor(rand(0, a), rand(low, high)) + 7) % (high - low + 1) + low
end

local function a_warehouse() return rand(1, size.warehouses) end
local function a_district() return rand(1, size.districts) end
local function a_customer() return uneven(1023, 1, size.customers) end
local function an_item() return uneven(8191, 1, size.items) end
local function another_warehouse(w) return (w - 1 + rand(1, size.warehouses - 1)) % size.warehouses + 1 end
local function is_one_of(of_hundred) return rand(1, 100) <= of_hundred end
local function now() return os.date("%Y-%m-%d %H:%M:%S") end

-- Most customers are looked up by their last name: the one in the middle of those who share it.
local function chosen_customer(ask, w, d)
  if not is_one_of(percent.by_name) then return a_customer() end
  local found = ask("select_customers_by_name", w, d, last_names[1 + uneven(255, 0, #last_names - 1)])
  return tonumber(found[math.floor((#found - 1) / 2) + 1][1])
end

local kinds = {}

function kinds.new_order()
  local w, d, c = a_warehouse(), a_district(), a_customer()
  local n, is_rolled_back = rand(5, 15), is_one_of(percent.rolled_back)
  local lines, is_local = {}, 1
  for i = 1, n do
    local supplier = w
    if size.warehouses > 1 and is_one_of(percent.remote_line) then supplier = another_warehouse(w) end
    if supplier ~= w then is_local = 0 end
    lines[i] = {supplier = supplier, item = an_item(), quantity = rand(1, 10)}
  end
  -- In one order, so that two terminals do not deadlock over the stock.
  table.sort(lines, function(a, b)
    if a.supplier ~= b.supplier then return a.supplier < b.supplier end
    return a.item < b.item
  end)
  local ask = asks("new_order", d)
  local o = tonumber(ask("select_district", w, d)[1][2])
  ask("select_customer", w, d, c)
  ask("update_district", w, d)
  ask("insert_orders", o, d, w, c, now(), n, is_local)
  ask("insert_new_order", o, d, w)
  local good = n
  for i, line in ipairs(lines) do
    local is_none = is_rolled_back and i == n
    local item = ask("select_item", is_none and size.items + 1 or line.item)[1]
    if not item then
      good = i - 1
      break
    end
    local stock = ask("select_stock", line.supplier, line.item)[1]
    line.price, line.has, line.dist = tonumber(item[1]), tonumber(stock[1]), stock[3]
  end
  for i = 1, good do
    local line = lines[i]
    local left = line.has - line.quantity
    if left < 10 then left = left + 91 end
    ask("update_stock", left, line.quantity, line.supplier == w and 0 or 1, line.supplier, line.item)
  end
  for i = 1, good do
    local line = lines[i]
    ask("insert_order_line", o, d, w, i, line.item, line.supplier, line.quantity, line.quantity * line.price, line.dist)
  end
  if is_rolled_back then send("new_order.rollback", "ROLLBACK") else ask("commit") end
end

function kinds.payment()
  local w, d = a_warehouse(), a_district()
  local c_w, c_d = w, d
  if size.warehouses > 1 and is_one_of(percent.remote_payment) then c_w, c_d = another_warehouse(w), a_district() end
  local amount = rand(100, 500000) / 100
  local ask = asks("payment")
  ask("update_district", amount, w, d)
  local d_name = ask("select_district", w, d)[1][1]
  ask("update_warehouse", amount, w)
  local w_name = ask("select_warehouse", w)[1][1]
  local c = chosen_customer(ask, c_w, c_d)
  local credit = ask("select_customer", c_w, c_d, c)[1][1]
  if credit == "BC" then
    local data = ask("select_customer_data", c_w, c_d, c)[1][1]
    data = ("%d %d %d %d %d %.2f | %s"):format(c, c_d, c_w, d, w, amount, data):sub(1, 500)
    ask("update_customer_data", amount, amount, data, c_w, c_d, c)
  else
    ask("update_customer", amount, amount, c_w, c_d, c)
  end
  ask("insert_history", c, c_d, c_w, d, w, now(), amount, w_name .. "    " .. d_name)
  ask("commit")
end

function kinds.order_status()
  local w, d = a_warehouse(), a_district()
  local ask = asks("order_status")
  local c = chosen_customer(ask, w, d)
  ask("select_customer", w, d, c)
  local o = tonumber(ask("select_last_order", w, d, c)[1][1])
  ask("select_order_lines", w, d, o)
  ask("commit")
end

function kinds.delivery()
  local w, carrier = a_warehouse(), rand(1, 10)
  local ask = asks("delivery")
  for d = 1, size.districts do
    local oldest = ask("select_oldest_new_order", w, d)[1]
    if oldest then
      local o = tonumber(oldest[1])
      ask("delete_new_order", w, d, o)
      local ordered = ask("select_order", w, d, o)[1]
      if ordered then
        ask("update_order", carrier, w, d, o)
        ask("update_order_lines", now(), w, d, o)
        local total = tonumber(ask("select_order_sum", w, d, o)[1][1])
        ask("update_customer", total, w, d, tonumber(ordered[1]))
      end
    end
  end
  ask("commit")
end

function kinds.stock_level()
  local w, d, threshold = a_warehouse(), a_district(), rand(10, 20)
  local ask = asks("stock_level")
  local following = tonumber(ask("select_district", w, d)[1][1])
  ask("count_low_stock", w, d, following - size.last_orders, following, threshold)
  ask("commit")
end

function thread_init() start() end

function event()
  local at = rand(1, 100)
  for _, of in ipairs(mix) do
    if at <= of[2] then return kinds[of[1]]() end
    at = at - of[2]
  end
end

-- A wait that lasted too long leaves its transaction open; a deadlock's victim is rolled back already.
function sysbench.hooks.before_restart_event(errdesc)
  if errdesc.sql_errno == 1205 then con:query("ROLLBACK") end
end

function thread_done()
  if con then con:disconnect() end
end
