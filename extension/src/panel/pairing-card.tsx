import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { PairingState } from '../worker/link/pairing.ts';
import { CopyCommand } from './copy-command.tsx';
import type { SendAction } from './requests.ts';

/** PairingCard shows how to connect the extension to the server if the extension's folder has no connection.json. */
export function PairingCard({ pairing, sendAction }: { pairing: PairingState; sendAction: SendAction }): VNode {
  return (
    <section class="pairing">
      {pairing.code === undefined ? (
        <button type="button" onClick={() => void sendAction({ op: 'pairAgain' })}>
          Show a new pairing code
        </button>
      ) : (
        <CopyCommand command={`opentabs pair ${pairing.code}`} />
      )}
      <PortForm port={pairing.port} setPort={(port) => void sendAction({ op: 'port', port })} />
    </section>
  );
}

function PortForm({ port, setPort }: { port: number; setPort(port: number): void }): VNode {
  const [typedPort, setTypedPort] = useState<string>();
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (typedPort !== undefined) setPort(Number(typedPort));
        setTypedPort(undefined);
      }}
    >
      <label for="server-port">Port of the server</label>
      <input
        id="server-port"
        type="number"
        min={1}
        max={65535}
        required
        value={typedPort ?? String(port)}
        onInput={(event) => setTypedPort(event.currentTarget.value)}
      />
      <button type="submit" disabled={typedPort === undefined || Number(typedPort) === port}>
        Use this port
      </button>
    </form>
  );
}
