import type { VNode } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { FailedPluginView, PluginView, StateBrowserParams } from '../../../wire/wire.gen.ts';
import type { PanelState } from '../panel-message.ts';
import { BrowserCard } from './browser-card.tsx';
import { Calls } from './calls.tsx';
import type { ChromePermissionsProps } from './chrome-permissions.tsx';
import { renderCommands } from './commands.tsx';
import type { CallHistory } from './history.ts';
import { Onboarding } from './onboarding.tsx';
import type { OpenCall } from './open-calls.ts';
import { PairingCard } from './pairing-card.tsx';
import { PluginList } from './plugins.tsx';
import type { RecentCall } from './recent.ts';
import type { SendAction } from './requests.ts';
import { type SiteAccessProps, SiteAccessRequests } from './site-access.tsx';
import { TabList } from './tabs.tsx';
import { TabsInUse } from './tabs-in-use.tsx';
import { UndoPluginsContext } from './undo-button.tsx';
import { type PanelView, ViewTabs } from './views.tsx';
import { WaitingCards } from './waiting.tsx';
import {
  type Advice,
  debuggerAdvice,
  makeLinkAdvice,
  makeLinkTitle,
  makeModeAdvice,
  makeVersionAdvice,
} from './wording.ts';

export interface PanelProps {
  readonly panelState: PanelState | undefined;
  readonly openCalls: readonly OpenCall[];
  readonly recentCalls: readonly RecentCall[];
  readonly history: CallHistory;
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
  readonly sendAction: SendAction;
}

export function Panel(panelProps: PanelProps): VNode {
  const { panelState, plugins, needsOnboarding, sendAction } = panelProps;
  const [panelView, setView] = useState<PanelView>('calls');
  const [isHelpOpen, setHelpOpen] = useState(false);
  const link = panelState?.link;
  const showsChecklist = needsOnboarding || isHelpOpen;
  const serverProblem = panelState && <ServerProblemNotice panelState={panelState} sendAction={sendAction} />;
  const browserProblem = panelState && <BrowserProblemNotice panelState={panelState} sendAction={sendAction} />;
  const checklist = panelState && showsChecklist && (
    <Onboarding
      {...panelProps}
      panelState={panelState}
      plugins={plugins ?? []}
      serverProblem={serverProblem}
      browserProblem={browserProblem}
      hideChecklist={needsOnboarding ? undefined : () => setHelpOpen(false)}
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
      {panelState?.debuggerState === 'refused' && (
        <AdviceNotice advice={debuggerAdvice} noticeTone="quiet">
          <button type="button" onClick={() => void sendAction({ op: 'allowDebugger' })}>
            Allow the debugger again
          </button>
        </AdviceNotice>
      )}
      {panelState && link?.kind === 'open' ? (
        <ConnectedPanel
          {...panelProps}
          panelState={panelState}
          panelView={panelView}
          setView={setView}
          checklist={checklist}
        />
      ) : (
        checklist
      )}
      {panelState && (
        <footer>
          <BrowserName
            name={panelState.browserName}
            renameBrowser={(name) => void sendAction({ op: 'rename', name })}
          />
          <div class="head">
            <span>
              Extension {panelState.extensionVersion}
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
  readonly panelState: PanelState;
  readonly sendAction: SendAction;
}

function ServerProblemNotice({
  panelState: { link, pairing, extensionVersion },
  sendAction,
}: ProblemProps): VNode | null {
  const linkAdvice = makeLinkAdvice(link, pairing);
  const versionProblem = link.kind === 'open' ? makeVersionAdvice(extensionVersion, link.serverVersion) : undefined;
  if (versionProblem) return <AdviceNotice advice={versionProblem} noticeTone="quiet" />;
  if (!linkAdvice) return null;
  return (
    <>
      <AdviceNotice advice={linkAdvice} noticeTone={pairing?.code === undefined ? 'bad' : 'quiet'}>
        <button type="button" onClick={() => void sendAction({ op: 'retry' })}>
          Try again
        </button>
      </AdviceNotice>
      {pairing && <PairingCard pairing={pairing} sendAction={sendAction} />}
    </>
  );
}

/** BrowserProblemNotice shows which Chrome settings plugins need. */
function BrowserProblemNotice({ panelState: { link, injectMode }, sendAction }: ProblemProps): VNode | null {
  const modeAdvice = link.kind === 'open' ? makeModeAdvice(injectMode) : undefined;
  if (!modeAdvice) return null;
  return (
    <AdviceNotice advice={modeAdvice} noticeTone={injectMode === 'none' ? 'bad' : 'quiet'}>
      <button type="button" onClick={() => void sendAction({ op: 'details' })}>
        Open details page
      </button>
    </AdviceNotice>
  );
}

interface ConnectedPanelProps extends PanelProps {
  readonly panelState: PanelState;
  readonly panelView: PanelView;
  setView(panelView: PanelView): void;
  readonly checklist: VNode | false | undefined;
}

/**
 * emptyPlugins is one shared empty list, so that components do not render again while the list of plugins is missing.
 */
const emptyPlugins: readonly PluginView[] = [];

function ConnectedPanel(panelProps: ConnectedPanelProps): VNode {
  const {
    panelState,
    openCalls,
    recentCalls,
    plugins,
    failedPlugins,
    browserTools,
    chromePermissions,
    siteAccess,
    sendAction,
  } = panelProps;
  const { panelView, setView, checklist, showsEverything, setShowsEverything, nowMs } = panelProps;
  const { calls, callsAt, running, tabs, holds: tabHolds, neededHosts, debuggerState } = panelState;
  // Include ended calls, because the approval card of an ended call stays visible for a moment to show the outcome.
  const cardCalls = useMemo(() => [...calls, ...recentCalls], [calls, recentCalls]);
  return (
    <>
      <WaitingCards calls={cardCalls} tabs={tabs} nowMs={nowMs} callsAt={callsAt} sendAction={sendAction} />
      <SiteAccessRequests hosts={neededHosts} grantAccess={siteAccess.grant} />
      <TabsInUse tabHolds={tabHolds} nowMs={nowMs} sendAction={sendAction} />
      {checklist}
      <ViewTabs view={panelView} showView={setView} runningCount={running} plugins={plugins ?? []} tabs={tabs} />
      <div role="tabpanel" aria-labelledby={`view-${panelView}`}>
        {panelView === 'calls' && (
          <UndoPluginsContext.Provider value={plugins ?? emptyPlugins}>
            <Calls
              openCalls={openCalls}
              recentCalls={recentCalls}
              history={panelProps.history}
              hasOlderCalls={panelProps.hasOlderCalls}
              tabs={tabs}
              runningCount={running}
              showsEverything={showsEverything}
              setShowsEverything={setShowsEverything}
              sendAction={sendAction}
            />
          </UndoPluginsContext.Provider>
        )}
        {panelView === 'browser' && (
          <BrowserCard
            tools={browserTools}
            debuggerState={debuggerState}
            chromePermissions={chromePermissions}
            siteAccess={siteAccess}
            sendAction={sendAction}
          />
        )}
        {panelView === 'plugins' && (
          <>
            <PluginList plugins={plugins} failedPlugins={failedPlugins} tabs={tabs} sendAction={sendAction} />
            <TabList tabs={tabs} grantSite={siteAccess.grant} sendAction={sendAction} />
          </>
        )}
      </div>
    </>
  );
}

function AdviceNotice(panelProps: { advice: Advice; noticeTone: 'bad' | 'quiet'; children?: VNode }): VNode {
  const { title, adviceSteps } = panelProps.advice;
  return (
    <section class={`notice ${panelProps.noticeTone}`} role={panelProps.noticeTone === 'bad' ? 'alert' : 'note'}>
      <h2>{title}</h2>
      {adviceSteps.length === 1 && <p>{renderCommands(adviceSteps[0] ?? '')}</p>}
      {adviceSteps.length > 1 && (
        <ol>
          {adviceSteps.map((adviceStep) => (
            <li key={adviceStep}>{renderCommands(adviceStep)}</li>
          ))}
        </ol>
      )}
      {panelProps.children}
    </section>
  );
}

function BrowserName({ name, renameBrowser }: { name: string; renameBrowser(name: string): void }): VNode {
  const [typedName, setTypedName] = useState<string>();
  const saveName = () => {
    if (typedName !== undefined && typedName.trim() !== name) renameBrowser(typedName);
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
