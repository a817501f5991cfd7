import type { VNode } from 'preact';
import type { CallView } from '../../../wire/wire.gen.ts';
import type { SendAction } from '../panel/requests.ts';
import { Waiting } from '../panel/waiting.tsx';
import { makeLinkAdvice, makeLinkTitle, makeModeAdvice } from '../panel/wording.ts';
import type { PanelState } from '../panel-message.ts';
import { describeCalls } from './calls-text.ts';

export interface PopupProps {
  readonly state: PanelState | undefined;
  readonly ended: readonly CallView[];
  readonly nowMs: number;
  readonly act: SendAction;
  openPanel(): void;
}

export function Popup({ state, ended, nowMs, act, openPanel }: PopupProps): VNode {
  const link = state?.link;
  const advice = link && (makeLinkAdvice(link, state.pairing) ?? makeModeAdvice(state.mode));
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
        <p>{state ? describeCalls(state) : 'Loading.'}</p>
        {/* The focused button opens the side panel on Enter, so that a keyboard user needs only one extra key. */}
        <button type="button" autofocus onClick={openPanel}>
          Open panel
        </button>
      </div>
      {advice && <p class="advice">{advice.title}</p>}
      {link?.kind === 'open' && (
        <Waiting
          calls={[...(state?.calls ?? []), ...ended]}
          tabs={state?.tabs ?? []}
          nowMs={nowMs}
          callsAt={state?.callsAt ?? 0}
          act={act}
        />
      )}
    </>
  );
}
