import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { CallView } from '../../../wire/wire.gen.ts';
import type { FromPanel, PanelTab } from '../panel-message.ts';
import { duration, hostOf, percent, plain, statusWord } from './wording.ts';

/** ShownEnded is how many calls that ended are shown. */
const ShownEnded = 20;

export interface CallsProps {
  readonly calls: readonly CallView[];
  readonly tabs: readonly PanelTab[];
  /** running counts also the calls that are not in the list. */
  readonly running: number;
  /** ranMs is how long running calls have run since the list was made, in milliseconds. */
  readonly ranMs: number;
  act(action: FromPanel): void;
}

/** Calls shows the running calls, then the last ones that ended. */
export function Calls({ calls, tabs, running, ranMs, act }: CallsProps): VNode {
  const open = calls.filter(isOpen);
  const ended = calls.filter((call) => !isOpen(call)).slice(0, ShownEnded);
  const more = running - open.length;
  return (
    <>
      <section aria-labelledby="running">
        <h2 id="running">
          Running <span class="count">{running}</span>
        </h2>
        {open.length === 0 && <p class="empty">No tool is running.</p>}
        <ul class="calls">
          {open.map((call) => (
            <OpenCall
              key={call.callId}
              call={call}
              tab={tabs.find((t) => t.tabId === call.tabId)}
              ranMs={ranMs}
              act={act}
            />
          ))}
        </ul>
        {more > 0 && <p class="empty">And {more} more.</p>}
      </section>
      {ended.length > 0 && (
        <section aria-labelledby="recent">
          <h2 id="recent">Recent</h2>
          <ul class="calls ended">
            {ended.map((call) => (
              <EndedCall key={call.callId} call={call} />
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

function isOpen(call: CallView): boolean {
  return call.status === 'running' || call.status === 'pending';
}

interface OpenCallProps {
  readonly call: CallView;
  readonly tab: PanelTab | undefined;
  readonly ranMs: number;
  act(action: FromPanel): void;
}

function OpenCall({ call, tab, ranMs, act }: OpenCallProps): VNode {
  const [stopping, setStopping] = useState(false);
  const waiting = call.status === 'pending';
  const name = `${call.plugin} ${call.tool}`;
  const stop = () => {
    setStopping(true);
    act({ op: 'stop', callId: call.callId });
  };
  return (
    <li class="call">
      <div class="head">
        <span class="name" title={`${call.plugin}__${call.tool}`}>
          <span class="plugin">{call.plugin}</span> {call.tool}
        </span>
        <button type="button" class="stop" aria-label={`Stop ${name}`} disabled={stopping} onClick={stop}>
          {stopping ? 'Stopping' : 'Stop'}
        </button>
      </div>
      <Bar name={name} share={waiting ? undefined : call.progress} waiting={waiting} />
      <div class="under">
        <span class="message">{plain(call.message ?? '') || (waiting ? 'Waiting for its turn' : 'Working')}</span>
        <span class="time">
          {call.progress !== undefined && !waiting && `${percent(call.progress)} · `}
          {duration(waiting ? call.runMs : call.runMs + ranMs)}
        </span>
      </div>
      <div class="from">
        {[call.client && `for ${plain(call.client)}`, tab && `in ${hostOf(tab.url)}`].filter(Boolean).join(', ')}
      </div>
    </li>
  );
}

/** Bar is a progress bar; without a share it says that work goes on. */
function Bar({ name, share, waiting }: { name: string; share: number | undefined; waiting: boolean }): VNode {
  const known = share !== undefined;
  return (
    <div
      class={`bar ${known ? 'known' : waiting ? 'waiting' : 'unknown'}`}
      role="progressbar"
      aria-label={`Progress of ${name}`}
      aria-valuemin={0}
      aria-valuemax={100}
      {...(known ? { 'aria-valuenow': Math.floor(share * 100), 'aria-valuetext': percent(share) } : {})}
    >
      <span style={known ? { transform: `scaleX(${Math.min(1, Math.max(0, share))})` } : {}} />
    </div>
  );
}

function EndedCall({ call }: { call: CallView }): VNode {
  const line = (
    <>
      <span class={`status ${call.status}`}>{statusWord(call.status)}</span>
      <span class="name" title={`${call.plugin}__${call.tool}`}>
        <span class="plugin">{call.plugin}</span> {call.tool}
      </span>
      <span class="time">{duration(call.runMs)}</span>
    </>
  );
  return (
    <li>
      {call.error ? (
        <details>
          <summary>{line}</summary>
          <p class="error">{plain(call.error)}</p>
        </details>
      ) : (
        <div class="line">{line}</div>
      )}
    </li>
  );
}
