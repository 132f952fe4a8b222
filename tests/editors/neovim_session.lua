-- A person's session in Neovim, step by step. Run by test_neovim.py with the place of the plugin, the
-- server's command and a file; what was seen is written to `seen` as JSON when everything is done.

local plugin, python, file, seen_file = unpack(vim.fn.json_decode(vim.env.COPPICE_SESSION))
local seen = { progress = {}, messages = {}, refreshed = false }

local function finish(problem)
  seen.problem = problem
  vim.fn.writefile({ vim.fn.json_encode(seen) }, seen_file)
  vim.cmd("qa!")
end

local function wait_for(what, holds)
  if not vim.wait(90000, holds, 20) then
    error("waited in vain for " .. what .. "; messages: " .. vim.inspect(seen.messages))
  end
end

-- The result of a request, as a plugin of the user's would get it.
local function answer(send)
  local result
  send(function(given)
    result = given or {}
  end)
  wait_for("an answer", function()
    return result ~= nil
  end)
  return result
end

local function turn(number)
  local question = ("Please change part %d of src/part_%d.py. "):format(number, number)
  local reply = ("Part %d now holds what was asked for. "):format(number)
  return {
    type = "message",
    message = { role = "user", content = question .. ("It must stay small. "):rep(8) },
  }, {
    type = "message",
    message = {
      role = "assistant",
      content = { { type = "text", text = reply .. ("Its tests pass. "):rep(8) } },
      stopReason = "stop",
    },
  }
end

local function session()
  vim.notify = function(text)
    table.insert(seen.messages, text)
  end
  local coppice = dofile(plugin)
  coppice.setup({
    cmd = { python, "-m", "coppice.lsp" },
    settings = { compaction = { keepRecentTokens = 300 }, tokens = { counter = "estimate" } },
  })
  -- Neovim's own word for progress, new and old.
  if vim.fn.has("nvim-0.10") == 1 then
    vim.api.nvim_create_autocmd("LspProgress", {
      callback = function(event)
        local value = (event.data.params or event.data.result).value
        table.insert(seen.progress, { kind = value.kind, title = value.title, message = value.message })
      end,
    })
  else
    vim.api.nvim_create_autocmd("User", {
      pattern = "LspProgressUpdate",
      callback = function()
        for _, each in ipairs(vim.lsp.util.get_progress_messages()) do
          local kind = each.done and "end" or "report"
          table.insert(seen.progress, { kind = kind, title = each.title, message = each.message })
        end
      end,
    })
  end

  vim.cmd("edit " .. vim.fn.fnameescape(file))
  wait_for("the server", function()
    local client = coppice.client()
    return client and client.server_capabilities and vim.lsp.buf_is_attached(0, client.id)
  end)

  vim.cmd("CoppiceNew Export")
  wait_for("the conversation", function()
    return #seen.messages > 0
  end)

  answer(function(done)
    coppice.request("coppice/conversation/create", { name = "Real\n2: Other" }, done)
  end)
  vim.ui.select = function(items, options)
    seen.conversations = vim.tbl_map(options.format_item, items)
  end
  vim.cmd("CoppiceOpen")
  wait_for("the conversations", function()
    return seen.conversations
  end)

  local entries = {}
  for number = 1, 30 do
    vim.list_extend(entries, { turn(number) })
  end
  local appended = answer(function(done)
    coppice.ask("coppice/append", { entries = entries }, done)
  end)
  seen.appended = #appended.entryIds

  vim.api.nvim_buf_set_lines(0, 0, -1, false, { "changed = True" })
  vim.cmd("write")

  vim.cmd("CoppiceCompact the parts")
  wait_for("the compaction", function()
    return seen.messages[#seen.messages]:find("tokens, written by", 1, true)
  end)

  -- The branch that begins with the third turn is left for the first, with a summary.
  local picked = {}
  vim.ui.select = function(items, options, choose)
    picked[#picked + 1] = options.prompt
    local index = options.prompt == "Branch" and 1 or 2
    seen.first_choice = seen.first_choice or (options.format_item or tostring)(items[1])
    choose(items[index], index)
  end
  answer(function(done)
    coppice.ask("coppice/navigate", { targetId = appended.entryIds[4] }, done)
  end)
  answer(function(done)
    coppice.ask("coppice/append", { entries = { (turn(99)) } }, done)
  end)
  vim.cmd("CoppiceBranches")
  wait_for("the other branch", function()
    return seen.messages[#seen.messages]:find("switched", 1, true)
  end)
  seen.picked = picked

  seen.files = answer(function(done)
    coppice.ask("coppice/files", { leafId = appended.leafId }, done)
  end)
  seen.tree = answer(function(done)
    coppice.ask("coppice/tree", { mode = "branches" }, done)
  end)

  vim.cmd("CoppiceContext")
  local function shown()
    return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n")
  end
  wait_for("the document", function()
    return shown():find("# What the model sees", 1, true)
  end)
  seen.document = { name = vim.fn.bufname(), filetype = vim.bo.filetype, modifiable = vim.bo.modifiable }
  answer(function(done)
    coppice.ask("coppice/append", { entries = { (turn(100)) } }, done)
  end)
  wait_for("the refreshed document", function()
    return shown():find("part_100", 1, true)
  end)
  seen.refreshed = true

  vim.cmd("CoppicePrompt what now?")
  wait_for("the answer that there is no model", function()
    return seen.messages[#seen.messages]:find("model", 1, true)
  end)
  seen.transcript = vim.fn.bufname()
  seen.status = coppice.status()

  package.loaded.coppice = coppice
  local client = coppice.client()
  local function progress(value)
    client.handlers["$/progress"](nil, { token = 1, value = value }, { client_id = client.id }, {})
  end
  progress({ kind = "begin", title = "Working", message = "Running %{6*7}" })
  seen.evaluated = vim.api.nvim_eval_statusline("%{%v:lua.require'coppice'.status()%}", {}).str
  progress({ kind = "end" })
end

local ok, problem = pcall(session)
finish(not ok and tostring(problem) or nil)
