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
import { type Advice, debuggerAdvice, linkAdvice, linkTitle, modeAdvice } from './wording.ts';

export interface PanelProps {
  /** state is undefined until the worker sends the first state. */
  readonly state: PanelState | undefined;
  /** plugins is undefined until the server sends the list. */
  readonly plugins: readonly PluginView[] | undefined;
  /** failed are the plugins that could not be loaded. */
  readonly failed: readonly FailedPluginView[];
  /** showsEverything is true if content that is not for the user is also shown. */
  readonly showsEverything: boolean;
  setShowsEverything(on: boolean): void;
  /** nowMs is the current time, in milliseconds since 1970. */
  readonly nowMs: number;
  readonly act: Act;
}

/** Panel is the root component of the side panel. */
export function Panel(props: PanelProps): VNode {
  const { state, act } = props;
  const link = state?.link;
  const linkProblem = link && linkAdvice(link);
  const modeProblem = state && link?.kind === 'open' ? modeAdvice(state.mode) : undefined;
  return (
    <>
      <header>
        <h1>opentabs</h1>
        <p class={`link ${link?.kind ?? 'connecting'}`} role="status">
          <span class="dot" aria-hidden="true" />
          {linkTitle(link)}
        </p>
      </header>
      {linkProblem && (
        <Notice advice={linkProblem} tone="bad">
          <button type="button" onClick={() => void act({ op: 'retry' })}>
            Try again
          </button>
        </Notice>
      )}
      {modeProblem && (
        <Notice advice={modeProblem} tone={state?.mode === 'none' ? 'bad' : 'quiet'}>
          <button type="button" onClick={() => void act({ op: 'details' })}>
            Open details page
          </button>
        </Notice>
      )}
      {state?.isDebuggerRefused && (
        <Notice advice={debuggerAdvice} tone="quiet">
          <button type="button" onClick={() => void act({ op: 'allowDebugger' })}>
            Allow the debugger again
          </button>
        </Notice>
      )}
      {state && link?.kind === 'open' && <ConnectedPanel {...props} state={state} />}
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

/** ConnectedPanel is the part of the panel that needs a connection to the server. */
function ConnectedPanel(props: PanelProps & { readonly state: PanelState }): VNode {
  const { state, plugins, failed, showsEverything, setShowsEverything, nowMs, act } = props;
  const [view, setView] = useState<View>('calls');
  const { calls, callsAt, running, tabs } = state;
  return (
    <>
      <Waiting calls={calls} tabs={tabs} nowMs={nowMs} callsAt={callsAt} act={act} />
      <Views view={view} show={setView} running={running} plugins={plugins ?? []} tabs={tabs} />
      {view === 'calls' ? (
        <Calls
          calls={calls}
          tabs={tabs}
          running={running}
          sinceListMs={nowMs - callsAt}
          showsEverything={showsEverything}
          setShowsEverything={setShowsEverything}
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

/** Notice shows a problem and the steps to fix it. children are the buttons of the notice. */
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
  const [typedName, setTypedName] = useState<string>();
  const saveName = () => {
    if (typedName !== undefined && typedName.trim() !== name) rename(typedName);
    setTypedName(undefined);
  };
  return (
    <form
      class="browser"
      onSubmit={(event) => {
        event.preventDefault();
        saveName();
      }}
    >
      <label for="browser-name">This browser</label>
      <input
        id="browser-name"
        value={typedName ?? name}
        maxLength={60}
        spellcheck={false}
        autocomplete="off"
        onInput={(event) => setTypedName(event.currentTarget.value)}
        onBlur={saveName}
        onKeyDown={(event) => {
          if (event.key === 'Escape') setTypedName(undefined);
        }}
      />
    </form>
  );
}
