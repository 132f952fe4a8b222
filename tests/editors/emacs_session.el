;;; A person's session in Emacs, step by step.  -*- lexical-binding: t -*-
;; Run by test_emacs.py; what was seen is written as JSON to `seen-file' when everything is done.

(package-initialize)
(defvar seen nil)
(defvar messages nil)
(pcase-let ((`[,plugin ,python ,file ,seen-file] (json-parse-string (getenv "COPPICE_SESSION"))))
  (condition-case problem
      (progn
        (load plugin nil t)
        (advice-add 'message :before (lambda (&rest words) (when (car words) (push (apply #'format words) messages))))
        (setq coppice-command (list python "-m" "coppice.lsp")
              eglot-sync-connect 60)
        (coppice-setup)
        (find-file file)
        (call-interactively #'eglot)
        (coppice-new "Export")
        (coppice-new "Other")
        (let ((completing-read-function
               (lambda (_ choices &rest _)
                 (seq-find (lambda (each) (string-prefix-p "Export" each)) (mapcar #'car choices)))))
          (push (cons 'opened (plist-get (plist-get (coppice-open) :conversation) :name)) seen))
        (let* ((turns (mapcan
                       (lambda (number)
                         (list `(:type "message" :message
                                 (:role "user" :content ,(format "Please change part %d. %s" number
                                                                 (make-string 200 ?x))))
                               `(:type "message" :message
                                 (:role "assistant" :stopReason "stop" :content
                                  [(:type "text" :text ,(format "Part %d is changed. %s" number
                                                                (make-string 200 ?y)))]))))
                       (number-sequence 1 30)))
               (appended (coppice-request :coppice/append :conversationId (coppice-conversation)
                                          :entries (vconcat turns))))
          (push (cons 'appended (length (plist-get appended :entryIds))) seen)
          (insert "changed\n")
          (save-buffer)
          (cl-flet ((wait-for (words)
                      (with-timeout (90 (error "Waited in vain for %s" words))
                        (while (not (seq-some (lambda (each) (string-match-p words each)) messages))
                          (accept-process-output nil 0.05)))))
            (coppice-compact "the parts")
            (wait-for "tokens, written by offline")
            (coppice-request :coppice/append :conversationId (coppice-conversation)
                             :parentId (elt (plist-get appended :entryIds) 3)
                             :entries (vector (car turns)))
            (let ((completing-read-function (lambda (_ choices &rest _)
                                               (seq-find (lambda (each) (string-prefix-p "  " each))
                                                         (mapcar #'car choices)))))
              (coppice-branches t))
            (wait-for "Coppice: switched"))
          (push (cons 'files (plist-get (coppice-request :coppice/files
                                                         :conversationId (coppice-conversation)
                                                         :leafId (plist-get appended :leafId))
                                        :modifiedFiles))
                seen)
          (push (cons 'tree (vconcat (mapcar (lambda (node) (plist-get node :type))
                                             (plist-get (coppice-request
                                                         :coppice/tree
                                                         :conversationId (coppice-conversation)
                                                         :mode "branches")
                                                        :nodes))))
                seen)
          (coppice-context)
          (with-current-buffer "*coppice context*"
            (push (cons 'context (buffer-substring 1 23)) seen)
            (dolist (text '("short" "long"))
              (coppice--show (if (equal text "long") (make-string 10001 ?x) text))
              (push (cons (intern text) (vector (if bidi-inhibit-bpa t :false)
                                                (if truncate-lines t :false)))
                    seen)))))
    (error (push (cons 'problem (format "%S" problem)) seen)))
  (push (cons 'messages (vconcat (mapcar #'substring-no-properties (reverse messages)))) seen)
  (with-temp-file seen-file (insert (json-serialize seen)))
  (kill-emacs 0))
