import type { VNode } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { FailedPluginView, PluginView, StateBrowserParams } from '../../../wire/wire.gen.ts';
import type { PanelState } from '../panel-message.ts';
import { BrowserCard } from './browser-card.tsx';
import { Calls } from './calls.tsx';
import type { ChromePermissionsProps } from './chrome-permissions.tsx';
import { renderCommands } from './commands.tsx';
import type { History } from './history.ts';
import { Onboarding } from './onboarding.tsx';
import type { OpenCall } from './open-calls.ts';
import { PairingCard } from './pairing-card.tsx';
import { Plugins } from './plugins.tsx';
import type { RecentCall } from './recent.ts';
import type { SendAction } from './requests.ts';
import { NeededSites, type SiteAccessProps } from './site-access.tsx';
import { Tabs } from './tabs.tsx';
import { TabsInUse } from './tabs-in-use.tsx';
import { UndoPlugins } from './undo-button.tsx';
import { type View, Views } from './views.tsx';
import { Waiting } from './waiting.tsx';
import {
  type Advice,
  debuggerAdvice,
  makeLinkAdvice,
  makeLinkTitle,
  makeModeAdvice,
  makeVersionAdvice,
} from './wording.ts';

export interface PanelProps {
  readonly state: PanelState | undefined;
  readonly openCalls: readonly OpenCall[];
  readonly recent: readonly RecentCall[];
  readonly history: History;
  /** hasOlderCalls is true if the server may have recorded older calls that the panel has not loaded. */
  readonly hasOlderCalls: boolean;
  readonly plugins: readonly PluginView[] | undefined;
  readonly failedPlugins: readonly FailedPluginView[];
  /** browserTools is undefined until the server sends the permissions of browser tools. */
  readonly browserTools: StateBrowserParams | undefined;
  readonly chromePermissions: ChromePermissionsProps;
  readonly siteAccess: SiteAccessProps;
  /** showsEverything is true if the panel also shows content that tools did not mark for the user. */
  readonly showsEverything: boolean;
  setShowsEverything(on: boolean): void;
  /** needsOnboarding is true until the first call has succeeded. */
  readonly needsOnboarding: boolean;
  readonly nowMs: number;
  readonly act: SendAction;
}

export function Panel(props: PanelProps): VNode {
  const { state, plugins, needsOnboarding, act } = props;
  const [view, setView] = useState<View>('calls');
  const [isHelpOpen, setHelpOpen] = useState(false);
  const link = state?.link;
  const showsChecklist = needsOnboarding || isHelpOpen;
  const serverProblem = state && <ServerProblem state={state} act={act} />;
  const browserProblem = state && <BrowserProblem state={state} act={act} />;
  const checklist = state && showsChecklist && (
    <Onboarding
      {...props}
      state={state}
      plugins={plugins ?? []}
      serverProblem={serverProblem}
      browserProblem={browserProblem}
      hide={needsOnboarding ? undefined : () => setHelpOpen(false)}
      showPlugins={() => setView('plugins')}
    />
  );
  return (
    <>
      <header>
        <h1>opentabs</h1>
        <p class={`link ${link?.kind ?? 'connecting'}`} role="status">
          <span class="dot" aria-hidden="true" />
          {makeLinkTitle(link)}
        </p>
      </header>
      {!showsChecklist && serverProblem}
      {!showsChecklist && browserProblem}
      {state?.debuggerState === 'refused' && (
        <Notice advice={debuggerAdvice} tone="quiet">
          <button type="button" onClick={() => void act({ op: 'allowDebugger' })}>
            Allow the debugger again
          </button>
        </Notice>
      )}
      {state && link?.kind === 'open' ? (
        <ConnectedPanel {...props} state={state} view={view} setView={setView} checklist={checklist} />
      ) : (
        checklist
      )}
      {state && (
        <footer>
          <BrowserName name={state.browserName} rename={(name) => void act({ op: 'rename', name })} />
          <div class="head">
            <span>
              Extension {state.extensionVersion}
              {link?.kind === 'open' && `, server ${link.serverVersion}`}
            </span>
            {!needsOnboarding && (
              <button type="button" aria-expanded={isHelpOpen} onClick={() => setHelpOpen(!isHelpOpen)}>
                Get started
              </button>
            )}
          </div>
        </footer>
      )}
    </>
  );
}

interface ProblemProps {
  readonly state: PanelState;
  readonly act: SendAction;
}

function ServerProblem({ state: { link, pairing, extensionVersion }, act }: ProblemProps): VNode | null {
  const linkProblem = makeLinkAdvice(link, pairing);
  const versionProblem = link.kind === 'open' ? makeVersionAdvice(extensionVersion, link.serverVersion) : undefined;
  if (versionProblem) return <Notice advice={versionProblem} tone="quiet" />;
  if (!linkProblem) return null;
  return (
    <>
      <Notice advice={linkProblem} tone={pairing?.code === undefined ? 'bad' : 'quiet'}>
        <button type="button" onClick={() => void act({ op: 'retry' })}>
          Try again
        </button>
      </Notice>
      {pairing && <PairingCard pairing={pairing} act={act} />}
    </>
  );
}

/** BrowserProblem shows which Chrome settings plugins need. */
function BrowserProblem({ state: { link, mode }, act }: ProblemProps): VNode | null {
  const linkProblem = link.kind === 'open' ? makeModeAdvice(mode) : undefined;
  if (!linkProblem) return null;
  return (
    <Notice advice={linkProblem} tone={mode === 'none' ? 'bad' : 'quiet'}>
      <button type="button" onClick={() => void act({ op: 'details' })}>
        Open details page
      </button>
    </Notice>
  );
}

interface ConnectedPanelProps extends PanelProps {
  readonly state: PanelState;
  readonly view: View;
  setView(view: View): void;
  readonly checklist: VNode | false | undefined;
}

/**
 * emptyPlugins is one shared empty list, so that components do not render again while the list of plugins is missing.
 */
const emptyPlugins: readonly PluginView[] = [];

function ConnectedPanel(props: ConnectedPanelProps): VNode {
  const { state, openCalls, recent, plugins, failedPlugins, browserTools, chromePermissions, siteAccess, act } = props;
  const { view, setView, checklist, showsEverything, setShowsEverything, nowMs } = props;
  const { calls, callsAt, running, tabs, holds, neededHosts, debuggerState } = state;
  // Include ended calls, because the approval card of an ended call stays visible for a moment to show the outcome.
  const cardCalls = useMemo(() => [...calls, ...recent], [calls, recent]);
  return (
    <>
      <Waiting calls={cardCalls} tabs={tabs} nowMs={nowMs} callsAt={callsAt} act={act} />
      <NeededSites hosts={neededHosts} grant={siteAccess.grant} />
      <TabsInUse holds={holds} nowMs={nowMs} act={act} />
      {checklist}
      <Views view={view} showView={setView} running={running} plugins={plugins ?? []} tabs={tabs} />
      <div role="tabpanel" aria-labelledby={`view-${view}`}>
        {view === 'calls' && (
          <UndoPlugins.Provider value={plugins ?? emptyPlugins}>
            <Calls
              openCalls={openCalls}
              recent={recent}
              history={props.history}
              hasOlderCalls={props.hasOlderCalls}
              tabs={tabs}
              running={running}
              showsEverything={showsEverything}
              setShowsEverything={setShowsEverything}
              act={act}
            />
          </UndoPlugins.Provider>
        )}
        {view === 'browser' && (
          <BrowserCard
            tools={browserTools}
            debuggerState={debuggerState}
            chromePermissions={chromePermissions}
            siteAccess={siteAccess}
            act={act}
          />
        )}
        {view === 'plugins' && (
          <>
            <Plugins plugins={plugins} failedPlugins={failedPlugins} tabs={tabs} act={act} />
            <Tabs tabs={tabs} grantSite={siteAccess.grant} act={act} />
          </>
        )}
      </div>
    </>
  );
}

function Notice(props: { advice: Advice; tone: 'bad' | 'quiet'; children?: VNode }): VNode {
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
