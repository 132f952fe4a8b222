;;; coppice.el --- Coppice through Eglot  -*- lexical-binding: t -*-

;; Package-Requires: ((emacs "28.1") (eglot "1.9"))

;;; Commentary:
;; Starts the server for the modes in `coppice-modes' (M-x eglot) and adds commands for one current
;; conversation a server.  Eglot runs one server a mode and project: name modes that have no other.

;;; Code:

(require 'eglot)

(defvar coppice-command '("coppice" "serve")
  "The program that is the server, with its arguments.")

(defvar coppice-modes '(text-mode)
  "The major modes in whose buffers Eglot starts Coppice.")

(defvar coppice--conversations (make-hash-table :test #'eq :weakness 'key)
  "The current conversation of each server.")

(defvar coppice--tokens 0)

(defun coppice-setup ()
  "Let Eglot know the server."
  (add-to-list 'eglot-server-programs (cons coppice-modes (lambda (&rest _) coppice-command))))

(defun coppice-server ()
  "The server of this buffer, or any Coppice server that runs."
  (or (eglot-current-server)
      (user-error "Coppice does not run here; start it with M-x eglot in a file of your project")))

(defun coppice-request (method &rest params)
  "The result of METHOD for the property list PARAMS."
  (jsonrpc-request (coppice-server) method (or params eglot--{}) :timeout 60))

(defun coppice-conversation ()
  "The id of the current conversation: the one last begun or chosen, else the newest."
  (let ((server (coppice-server)))
    (or (gethash server coppice--conversations)
        (let ((found (plist-get (coppice-request :coppice/conversation/list :limit 1) :conversations)))
          (when (seq-empty-p found)
            (user-error "There is no conversation yet; M-x coppice-new begins one"))
          (puthash server (plist-get (elt found 0) :id) coppice--conversations)))))

(defun coppice-ask (method done &rest params)
  "Ask METHOD about the current conversation with PARAMS; call DONE with its result.
A long request shows its progress as Eglot shows any."
  (let ((token (format "coppice.el-%d" (setq coppice--tokens (1+ coppice--tokens)))))
    (jsonrpc-async-request
     (coppice-server) method
     (append (list :conversationId (coppice-conversation) :workDoneToken token) params)
     :timeout 600
     :success-fn done
     :error-fn (jsonrpc-lambda (&key message &allow-other-keys) (message "Coppice: %s" message)))))

(defun coppice-new (name)
  "Begin a conversation called NAME and make it the current one."
  (interactive "sName: ")
  (let ((made (plist-get (coppice-request :coppice/conversation/create :name name) :conversation)))
    (puthash (coppice-server) (plist-get made :id) coppice--conversations)
    (message "Coppice: new conversation %s" name)))

(defun coppice-open ()
  "Choose the current conversation."
  (interactive)
  (let* ((found (plist-get (coppice-request :coppice/conversation/list) :conversations))
         (choices (mapcar (lambda (each)
                            (cons (format "%s  %s" (or (plist-get each :name) (plist-get each :firstMessage) "")
                                          (plist-get each :id))
                                  (plist-get each :id)))
                          found))
         (chosen (cdr (assoc (completing-read "Conversation: " choices nil t) choices))))
    (puthash (coppice-server) chosen coppice--conversations)
    (coppice-request :coppice/conversation/get :conversationId chosen)))

(defun coppice-compact (focus)
  "Compact the current conversation, with FOCUS where it is not empty."
  (interactive "sFocus (may be empty): ")
  (apply #'coppice-ask :coppice/compact
         (jsonrpc-lambda (&key tokensBefore tokensAfter summarizer &allow-other-keys)
           (message "Coppice: %d → %d tokens, written by %s" tokensBefore tokensAfter summarizer))
         (unless (string-empty-p focus) (list :instructions focus))))

(defun coppice-cancel ()
  "Stop what runs for the current conversation."
  (interactive)
  (coppice-ask :coppice/cancel
               (jsonrpc-lambda (&key cancelled)
                 (message "Coppice: %s" (if (seq-empty-p cancelled) "nothing was running" "stopped")))))

(defun coppice-branches (summarize)
  "Choose a branch and switch to it; with a prefix argument SUMMARIZE the one that is left."
  (interactive "P")
  (let* ((nodes (plist-get (coppice-request :coppice/tree :conversationId (coppice-conversation)
                                            :mode "branches" :limit 1000)
                           :nodes))
         (choices (mapcar (lambda (node)
                            (cons (format "%s%s  %s" (if (eq (plist-get node :onCurrentPath) t) "* " "  ")
                                          (plist-get node :preview) (plist-get node :id))
                                  (plist-get node :id)))
                          nodes))
         (chosen (cdr (assoc (completing-read "Branch: " choices nil t) choices))))
    (coppice-ask :coppice/navigate
                 (lambda (_) (message "Coppice: switched"))
                 :targetId chosen :summarize (if summarize t :json-false))))

(defun coppice--show (text)
  "Show TEXT, a document of the server."
  ;; With a long line, display takes time with the square of its length unless it is cut and not reordered.
  (let ((is-long (seq-some (lambda (line) (> (length line) 10000)) (split-string text "\n"))))
    (with-current-buffer (get-buffer-create "*coppice context*")
      (let ((inhibit-read-only t))
        (erase-buffer)
        (insert text)
        (goto-char (point-min)))
      (view-mode)
      (setq-local bidi-inhibit-bpa is-long truncate-lines is-long)
      (display-buffer (current-buffer)))))

(defun coppice-context ()
  "Show what the model sees."
  (interactive)
  (let ((uri (format "coppice:/%s/context.md" (coppice-conversation))))
    (coppice--show (plist-get (coppice-request :workspace/textDocumentContent :uri uri) :text))))

(provide 'coppice)
;;; coppice.el ends here
