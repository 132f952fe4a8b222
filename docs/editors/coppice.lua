-- Coppice in Neovim: starts the server, keeps one conversation a workspace, and adds commands.
-- Put this file into a `lua/` folder of your runtime path and call `require("coppice").setup()`.
-- Needs Neovim 0.7.2 or newer.

local M = {}

M.config = {
  cmd = { "coppice", "serve" },
  settings = {}, -- the section `coppice`: { model = { contextWindow = 128000 } }
  root_markers = { ".git", ".coppice" },
}

local NAME = "coppice"
local conversations = {} -- the current conversation of each client
local shown = "" -- the progress as it was last reported
local tokens = 0

local function has(version)
  return vim.fn.has("nvim-" .. version) == 1
end

local function say(text, level)
  vim.notify("Coppice: " .. text, level or vim.log.levels.INFO)
end

local function list_clients()
  local list = vim.lsp.get_clients or vim.lsp.get_active_clients
  return vim.tbl_filter(function(client)
    return client.name == NAME
  end, list())
end

-- The client of the current buffer, else the first one.
function M.client()
  local clients = list_clients()
  for _, client in ipairs(clients) do
    if vim.lsp.buf_is_attached(0, client.id) then
      return client
    end
  end
  return clients[1]
end

-- Sends any request of the protocol. `done(result)` is called when it succeeded; a failure is shown.
function M.request(method, params, done)
  local client = M.client()
  if not client then
    return say("the server is not running; open a file of your project first.", vim.log.levels.WARN)
  end
  local function answered(err, result)
    if err then
      say(err.message or "the request failed.", vim.log.levels.ERROR)
    elseif done then
      done(result, client)
    end
  end
  params = next(params) and params or vim.empty_dict()
  if has("0.11") then
    return client:request(method, params, answered)
  end
  return client.request(method, params, answered)
end

-- The id of the current conversation: the one that was opened, else the newest of the workspace.
local function with_conversation(use)
  local client = M.client()
  local known = client and conversations[client.id]
  if known then
    return use(known)
  end
  M.request("coppice/conversation/list", { limit = 1 }, function(result, answering)
    local newest = result.conversations[1]
    if not newest then
      return say("there is no conversation yet; :CoppiceNew makes one.", vim.log.levels.WARN)
    end
    conversations[answering.id] = newest.id
    use(newest.id)
  end)
end

-- A request about the current conversation; a long one shows its progress.
function M.ask(method, params, done)
  with_conversation(function(id)
    tokens = tokens + 1
    local given = { conversationId = id, workDoneToken = "coppice.nvim-" .. tokens }
    M.request(method, vim.tbl_extend("force", given, params or {}), done)
  end)
end

-- What runs now, for a status line: "Compacting: Summarizing 40%%", or nothing. A model's text may be in it: Neovim
-- evaluates no percent sign that is doubled.
function M.status()
  return (shown:gsub("%c", " "):gsub("%%", "%%%%"))
end

local function on_progress(err, result, ctx, config)
  local value = result and result.value
  if type(value) == "table" and value.kind then
    local title = value.title or shown:match("^[^:]*") or ""
    local stage = { title }
    if value.message then
      stage = { title, value.message }
    end
    local text = table.concat(stage, ": ")
    if value.kind ~= "end" and value.percentage then
      text = text .. " " .. value.percentage .. "%"
    end
    shown = value.kind == "end" and "" or text
    vim.api.nvim_echo({ { text } }, false, {})
    vim.cmd("redrawstatus")
  end
  local default = vim.lsp.handlers["$/progress"]
  if default then
    return default(err, result, ctx, config)
  end
end

local function fill(buffer, text)
  local bo = vim.bo[buffer]
  bo.modifiable = true
  vim.api.nvim_buf_set_lines(buffer, 0, -1, false, vim.split(text, "\n"))
  bo.modifiable, bo.modified = false, false
end

-- Reads a document into its buffer. Neovim leaves a name with `://` as it is.
local function read_document(buffer)
  local bo = vim.bo[buffer]
  bo.buftype, bo.swapfile, bo.filetype = "nofile", false, "markdown"
  M.request("workspace/textDocumentContent", { uri = vim.api.nvim_buf_get_name(buffer) }, function(result)
    if vim.api.nvim_buf_is_valid(buffer) then
      fill(buffer, result.text)
    end
  end)
end

local function on_refresh(_, params)
  local buffer = vim.fn.bufnr("^" .. vim.fn.escape(params.uri, "\\*?[]{}") .. "$")
  if buffer > 0 and vim.api.nvim_buf_is_loaded(buffer) then
    read_document(buffer)
  end
  return vim.NIL
end

local function show(document)
  with_conversation(function(id)
    vim.cmd("edit " .. vim.fn.fnameescape("coppice:///" .. id .. "/" .. document))
  end)
end

function M.new(name)
  M.request("coppice/conversation/create", { name = name }, function(result, client)
    conversations[client.id] = result.conversation.id
    say("new conversation " .. (name or result.conversation.id))
  end)
end

-- On one line: a line break in a name would show a choice that is none.
local function choice_of(text)
  return (text:gsub("%c", " "))
end

function M.open()
  M.request("coppice/conversation/list", {}, function(result, client)
    vim.ui.select(result.conversations, {
      prompt = "Conversation",
      format_item = function(item)
        return choice_of(item.name or item.firstMessage or item.id)
      end,
    }, function(item)
      if item then
        conversations[client.id] = item.id
        M.request("coppice/conversation/get", { conversationId = item.id })
      end
    end)
  end)
end

function M.compact(focus)
  M.ask("coppice/compact", { instructions = focus }, function(result)
    say(("%d → %d tokens, written by %s"):format(result.tokensBefore, result.tokensAfter, result.summarizer))
  end)
end

function M.cancel()
  M.ask("coppice/cancel", {}, function(result)
    say(#result.cancelled > 0 and "stopped" or "nothing was running")
  end)
end

local function go(target, how)
  M.ask("coppice/navigate", vim.tbl_extend("force", { targetId = target }, how), function(result)
    if type(result.editorText) == "string" then
      vim.fn.setreg('"', result.editorText)
      say("switched; your message there is in the unnamed register")
    else
      say("switched")
    end
  end)
end

local SUMMARIES = { "No summary", "Summarize", "Summarize with focus…" }

-- Picks a branch and switches to it, with a summary of the one that is left where it is wanted.
function M.branches()
  M.ask("coppice/tree", { mode = "branches", limit = 1000 }, function(result)
    vim.ui.select(result.nodes, {
      prompt = "Branch",
      format_item = function(node)
        local mark = node.onCurrentPath and "* " or "  "
        local label = node.label and ("[" .. node.label .. "] ") or ""
        return choice_of(mark .. label .. node.preview)
      end,
    }, function(node)
      if not node then
        return
      end
      vim.ui.select(SUMMARIES, { prompt = "The branch that is left" }, function(_, choice)
        if choice == 1 then
          go(node.id, {})
        elseif choice == 2 then
          go(node.id, { summarize = true })
        elseif choice == 3 then
          vim.ui.input({ prompt = "Focus: " }, function(focus)
            if focus then
              go(node.id, { summarize = true, instructions = focus })
            end
          end)
        end
      end)
    end)
  end)
end

function M.context()
  show("context.md")
end

function M.transcript()
  show("transcript.md")
end

-- Has the server run a turn with the model of the settings; the transcript shows it message by message.
function M.prompt(text)
  M.ask("coppice/prompt", { content = text }, function(result)
    say("the turn ended: " .. result.stopReason)
  end)
  M.transcript()
end

local function client_config(root)
  local capabilities = vim.lsp.protocol.make_client_capabilities()
  capabilities.workspace.textDocumentContent = vim.empty_dict()
  return {
    name = NAME,
    cmd = M.config.cmd,
    root_dir = root,
    capabilities = capabilities,
    settings = { coppice = next(M.config.settings) and M.config.settings or vim.empty_dict() },
    init_options = { settings = next(M.config.settings) and M.config.settings or vim.empty_dict() },
    handlers = { ["$/progress"] = on_progress, ["workspace/textDocumentContent/refresh"] = on_refresh },
  }
end

local function root_of(buffer)
  local path = vim.api.nvim_buf_get_name(buffer)
  local folder = vim.fn.fnamemodify(path, ":p:h")
  while true do
    for _, marker in ipairs(M.config.root_markers) do
      if (vim.uv or vim.loop).fs_stat(folder .. "/" .. marker) then
        return folder
      end
    end
    local above = vim.fn.fnamemodify(folder, ":h")
    if above == folder then
      return vim.fn.getcwd()
    end
    folder = above
  end
end

-- Before 0.11: one client a root, attached to each file that is opened.
local function attach(buffer)
  if vim.bo[buffer].buftype ~= "" or vim.api.nvim_buf_get_name(buffer) == "" then
    return
  end
  local root = root_of(buffer)
  for _, client in ipairs(list_clients()) do
    if client.config.root_dir == root then
      return vim.lsp.buf_attach_client(buffer, client.id)
    end
  end
  local config = client_config(root)
  config.workspace_folders = { { uri = vim.uri_from_fname(root), name = root } }
  local id = vim.lsp.start_client(config)
  if id then
    vim.lsp.buf_attach_client(buffer, id)
  end
end

local function start()
  if has("0.11") then
    local config = client_config(nil)
    config.root_markers = M.config.root_markers
    config.workspace_required = false
    vim.lsp.config(NAME, config)
    vim.lsp.enable(NAME)
    return
  end
  vim.api.nvim_create_autocmd({ "BufReadPost", "BufNewFile" }, {
    group = vim.api.nvim_create_augroup("coppice-attach", {}),
    callback = function(event)
      attach(event.buf)
    end,
  })
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(buffer) then
      attach(buffer)
    end
  end
end

local function word(use)
  return function(command)
    use(command.args ~= "" and command.args or nil)
  end
end

local COMMANDS = {
  CoppiceNew = { word(M.new), "?", "Begin a conversation" },
  CoppiceOpen = { word(M.open), 0, "Choose the current conversation" },
  CoppiceCompact = { word(M.compact), "?", "Compact the conversation, with an optional focus" },
  CoppicePrompt = { word(M.prompt), "+", "Say something to the model of the settings" },
  CoppiceCancel = { word(M.cancel), 0, "Stop what runs for the conversation" },
  CoppiceBranches = { word(M.branches), 0, "Switch to another branch" },
  CoppiceContext = { word(M.context), 0, "Show what the model sees" },
  CoppiceTranscript = { word(M.transcript), 0, "Show the conversation" },
}

function M.setup(config)
  M.config = vim.tbl_deep_extend("force", M.config, config or {})
  for name, command in pairs(COMMANDS) do
    vim.api.nvim_create_user_command(name, command[1], { nargs = command[2], desc = command[3] })
  end
  vim.api.nvim_create_autocmd("BufReadCmd", {
    group = vim.api.nvim_create_augroup("coppice-documents", {}),
    pattern = "coppice:///*",
    callback = function(event)
      read_document(event.buf)
    end,
  })
  start()
end

return M
