-- Sends the statements of a file to the server, one a line, and takes their rows: run it with --events=1 --threads=1.

sysbench.cmdline.options = {
  statements = {"file with one statement per line", ""},
  tables = {"as for SysBench's own scripts; not used", 1},
  table_size = {"as for SysBench's own scripts; not used", 0},
}

function thread_init()
  con = sysbench.sql.driver():connect()
end

function event()
  for line in io.lines(sysbench.opt.statements) do
    con:query(line)
  end
end

function thread_done()
  con:disconnect()
end
