import type { VNode } from 'preact';
import type { CallView } from '../../../wire/wire.gen.ts';
import type { SendAction } from '../panel/requests.ts';
import { WaitingCards } from '../panel/waiting.tsx';
import { makeLinkAdvice, makeLinkTitle, makeModeAdvice } from '../panel/wording.ts';
import type { PanelState } from '../panel-message.ts';
import { describeCalls } from './calls-text.ts';

export interface PopupProps {
  readonly panelState: PanelState | undefined;
  readonly endedCalls: readonly CallView[];
  readonly nowMs: number;
  readonly sendAction: SendAction;
  openPanel(): void;
}

export function Popup({ panelState, endedCalls, nowMs, sendAction, openPanel }: PopupProps): VNode {
  const link = panelState?.link;
  const linkAdvice = link && (makeLinkAdvice(link, panelState.pairing) ?? makeModeAdvice(panelState.injectMode));
  return (
    <>
      <header>
        <h1>opentabs</h1>
        <p class={`link ${link?.kind ?? 'connecting'}`} role="status">
          <span class="dot" aria-hidden="true" />
          {makeLinkTitle(link)}
        </p>
      </header>
      <div class="glance">
        <p>{panelState ? describeCalls(panelState) : 'Loading.'}</p>
        {/* The focused button opens the side panel on Enter, so that a keyboard user needs only one extra key. */}
        <button type="button" autofocus onClick={openPanel}>
          Open panel
        </button>
      </div>
      {linkAdvice && <p class="advice">{linkAdvice.title}</p>}
      {link?.kind === 'open' && (
        <WaitingCards
          calls={[...(panelState?.calls ?? []), ...endedCalls]}
          tabs={panelState?.tabs ?? []}
          nowMs={nowMs}
          callsAt={panelState?.callsAt ?? 0}
          sendAction={sendAction}
        />
      )}
    </>
  );
}
