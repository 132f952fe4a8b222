import type { JSX } from "preact";

import type { PageCommand } from "../../src/chat/messages";
import { visible } from "../../src/format";
import { post } from "../page";
import type { PanelState } from "../state/state";
import { Icon } from "./icon";

type Server = PanelState["server"];

/** What keeps the server from answering, with the action that helps; nothing where it runs. */
export function ServerNotice({ server }: { server: Server }): JSX.Element | null {
  switch (server.state) {
    case "running":
      return null;
    case "starting":
      return <p class="server" role="status"><Icon name="loading" spin />Starting the server…</p>;
    case "installing":
      return (
        <Card server={server} icon="cloud-download" title="Installing the server" detail={server.message}>
          <div class="work-track" role="progressbar" aria-label="Installing the server"><div class="work-fill unknown" /></div>
          <Buttons label="Cancel" command="coppice.cancelInstallation" isSecondary />
        </Card>
      );
    case "absent":
      return server.canInstall ? (
        <Card server={server} icon="cloud-download" title="Coppice needs its server" detail={server.message ?? "It comes with this extension and is installed for it alone. Python 3.11 or newer is needed."}>
          <Buttons label={server.message === undefined ? "Install" : "Try Again"} command="coppice.installServer" />
        </Card>
      ) : (
        <Card server={server} icon="debug-disconnect" title="The server was not found" detail={server.message}>
          <Buttons label="Choose Server…" command="coppice.chooseServer" />
        </Card>
      );
    case "failed":
      return (
        <Card server={server} icon="error" title="The server does not run" detail={server.message}>
          <Buttons label="Restart Server" command="coppice.restartServer" />
        </Card>
      );
    case "stopped":
      return (
        <Card server={server} icon="debug-disconnect" title="The server is stopped" detail={server.message}>
          <Buttons label="Start Server" command="coppice.restartServer" />
        </Card>
      );
  }
}

interface CardProps {
  server: Server;
  icon: string;
  title: string;
  detail: string | undefined;
  children: JSX.Element | JSX.Element[];
}

function Card({ server, icon, title, detail, children }: CardProps): JSX.Element {
  return (
    <section class="server stopped" role="status" aria-label="Server" data-testid={`server-${server.state}`}>
      <p><Icon name={icon} />{title}</p>
      {detail !== undefined && <p class="hint">{visible(detail)}</p>}
      {children}
    </section>
  );
}

function Buttons({ label, command, isSecondary = false }: { label: string; command: PageCommand; isSecondary?: boolean }): JSX.Element {
  return (
    <p class="buttons">
      <button type="button" class={isSecondary ? "button secondary" : "button"} onClick={() => { post({ type: "run", command }); }}>{label}</button>
      <button type="button" class="link" onClick={() => { post({ type: "run", command: "coppice.showLog" }); }}>Show Log</button>
    </p>
  );
}
