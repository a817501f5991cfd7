import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { FailedPluginView, PluginView } from '../../../wire/wire.gen.ts';
import type { PanelState } from '../panel-message.ts';
import { Calls } from './calls.tsx';
import { Plugins } from './plugins.tsx';
import type { Act } from './requests.ts';
import { Tabs } from './tabs.tsx';
import { type View, Views } from './views.tsx';
import { Waiting } from './waiting.tsx';
import { type Advice, linkAdvice, linkTitle, modeAdvice } from './wording.ts';

export interface PanelProps {
  /** state is absent until the worker sends the first one. */
  readonly state: PanelState | undefined;
  /** plugins is absent until the server sends the list. */
  readonly plugins: readonly PluginView[] | undefined;
  /** failed are the plugins that could not be loaded. */
  readonly failed: readonly FailedPluginView[];
  /** everything also shows content that is not for the user. */
  readonly everything: boolean;
  showEverything(on: boolean): void;
  /** now is the current time, in milliseconds since 1970. */
  readonly now: number;
  readonly act: Act;
}

/** Panel is the root component of the side panel. */
export function Panel(props: PanelProps): VNode {
  const { state, act } = props;
  const link = state?.link;
  const trouble = link && linkAdvice(link);
  const mode = state && link?.kind === 'open' ? modeAdvice(state.mode) : undefined;
  return (
    <>
      <header>
        <h1>opentabs</h1>
        <p class={`link ${link?.kind ?? 'connecting'}`} role="status">
          <span class="dot" aria-hidden="true" />
          {linkTitle(link)}
        </p>
      </header>
      {trouble && (
        <Notice advice={trouble} tone="bad">
          <button type="button" onClick={() => void act({ op: 'retry' })}>
            Try again
          </button>
        </Notice>
      )}
      {mode && (
        <Notice advice={mode} tone={state?.mode === 'none' ? 'bad' : 'quiet'}>
          <button type="button" onClick={() => void act({ op: 'details' })}>
            Open details page
          </button>
        </Notice>
      )}
      {state && link?.kind === 'open' && <Linked {...props} state={state} />}
      {state && (
        <footer>
          <BrowserName name={state.browserName} rename={(name) => void act({ op: 'rename', name })} />
          Extension {state.extensionVersion}
          {link?.kind === 'open' && `, server ${link.serverVersion}`}
        </footer>
      )}
    </>
  );
}

/** Linked is the part of the panel that needs a connection to the server. */
function Linked(props: PanelProps & { readonly state: PanelState }): VNode {
  const { state, plugins, failed, everything, showEverything, now, act } = props;
  const [view, setView] = useState<View>('calls');
  const { calls, callsAt, running, tabs } = state;
  return (
    <>
      <Waiting calls={calls} tabs={tabs} now={now} callsAt={callsAt} act={act} />
      <Views view={view} show={setView} running={running} plugins={plugins ?? []} tabs={tabs} />
      {view === 'calls' ? (
        <Calls
          calls={calls}
          tabs={tabs}
          running={running}
          ranMs={now - callsAt}
          everything={everything}
          showEverything={showEverything}
          act={act}
        />
      ) : (
        <>
          <Plugins plugins={plugins} failed={failed} tabs={tabs} act={act} />
          <Tabs tabs={tabs} act={act} />
        </>
      )}
    </>
  );
}

/** Notice shows a problem and the steps to fix it. children are the buttons. */
function Notice(props: { advice: Advice; tone: 'bad' | 'quiet'; children: VNode }): VNode {
  const { title, steps } = props.advice;
  return (
    <section class={`notice ${props.tone}`} role={props.tone === 'bad' ? 'alert' : 'note'}>
      <h2>{title}</h2>
      {steps.length === 1 && <p>{renderCommands(steps[0] ?? '')}</p>}
      {steps.length > 1 && (
        <ol>
          {steps.map((step) => (
            <li key={step}>{renderCommands(step)}</li>
          ))}
        </ol>
      )}
      {props.children}
    </section>
  );
}

/** renderCommands renders text between backquotes as code. */
function renderCommands(text: string): (string | VNode)[] {
  return text.split('`').map((piece, i) => (i % 2 === 1 ? <code key={piece}>{piece}</code> : piece));
}

/** BrowserName is the field in which the user names this browser. */
function BrowserName({ name, rename }: { name: string; rename(name: string): void }): VNode {
  const [typed, setTyped] = useState<string>();
  const done = () => {
    if (typed !== undefined && typed.trim() !== name) rename(typed);
    setTyped(undefined);
  };
  return (
    <form
      class="browser"
      onSubmit={(event) => {
        event.preventDefault();
        done();
      }}
    >
      <label for="browser-name">This browser</label>
      <input
        id="browser-name"
        value={typed ?? name}
        maxLength={60}
        spellcheck={false}
        autocomplete="off"
        onInput={(event) => setTyped(event.currentTarget.value)}
        onBlur={done}
        onKeyDown={(event) => {
          if (event.key === 'Escape') setTyped(undefined);
        }}
      />
    </form>
  );
}
