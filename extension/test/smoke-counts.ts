// Prints how much work the extension does in typical situations, as one JSON object for `make bench-smoke`
// (internal/bench). The printed counts are the same on every machine, in contrast to measured times.

import type { PluginInfo } from '../../wire/wire.gen.ts';
import type { RegisteredScript } from '../src/chrome-scripts.ts';
import type { BridgeToWorkerMessage, WorkerToBridgeMessage } from '../src/port-message.ts';
import { encodeMessages } from '../src/port-text.ts';
import { Calls } from '../src/worker/calls/calls.ts';
import { Outbox } from '../src/worker/calls/outbox.ts';
import { RunningCalls } from '../src/worker/calls/running.ts';
import { type Doc, makeDocs } from '../src/worker/documents/docs.ts';
import { Plugins, type ScriptRegistrar } from '../src/worker/plugins/plugins.ts';

const pluginCount = 120;

/** callId has the usual length of a call ID, because the measured byte counts depend on this length. */
const callId = 'call_0123456789abcdefghijklmnop';

const neverSettles = new Promise<never>(() => undefined);

function makePlugin(pluginNumber: number): PluginInfo {
  const name = `plugin${pluginNumber}`;
  return {
    name,
    displayName: name,
    hash: `hash-${name}`,
    script: `script-${name}`,
    world: 'main',
    matches: [`*://${name}.example/*`],
  };
}

async function countRegistrations(): Promise<number> {
  const userScripts = new Map<string, RegisteredScript>();
  const files = new Map<string, RegisteredScript>();
  const addScripts = (to: Map<string, RegisteredScript>) => async (scripts: readonly RegisteredScript[]) => {
    for (const script of scripts) to.set(script.id, script);
  };
  const removeScripts = (from: Map<string, RegisteredScript>) => async (ids: readonly string[]) => {
    for (const id of ids) from.delete(id);
  };
  const scriptRegistrar: ScriptRegistrar = {
    areUserScriptsAllowed: async () => true,
    listUserScripts: async () => [...userScripts.values()],
    registerUserScripts: addScripts(userScripts),
    updateUserScript: async (script) => void userScripts.set(script.id, script),
    unregisterUserScripts: removeScripts(userScripts),
    listFileScripts: async () => [...files.values()],
    registerFiles: addScripts(files),
    updateFile: async (script) => void files.set(script.id, script),
    unregisterFiles: removeScripts(files),
  };
  const plugins = new Plugins(scriptRegistrar, {
    entryPoints: { deriveName: async (plugin) => `_${plugin}` },
    fetchCode: async (name) => ({ code: `function () { ${name} }`, options: '{}' }),
    listRecentlyUsedPlugins: async () => [],
    readBootId: async () => 'boot',
  });
  await plugins.sync({
    host: 'host',
    plugins: Array.from({ length: pluginCount }, (_, pluginNumber) => makePlugin(pluginNumber)),
  });
  await plugins.registerEarlyScripts();
  return userScripts.size + files.size;
}

/** countCallBytes returns the message sizes of a call without arguments and without a result. */
async function countCallBytes(): Promise<{ portBytes: number; frameBytes: number }> {
  let portBytes = 0;
  let frameBytes = 0;
  const countText = (text: string) => {
    frameBytes += new TextEncoder().encode(text).length;
    return true;
  };
  const countMessage = (message: BridgeToWorkerMessage | WorkerToBridgeMessage) => {
    portBytes += new TextEncoder().encode(encodeMessages([message])).length;
  };
  const calls = new Calls({
    outbox: new Outbox({ send: countText, requestConfirmation: () => neverSettles }),
    docs: makeDocs(),
    runningCalls: new RunningCalls(),
    send: countText,
    reportResumedCalls: () => undefined,
    readTabState: async () => 'open',
    isTabLoading: async () => false,
    isTabFrozen: () => false,
    isDocumentGone: async () => false,
    findAccessProblem: () => undefined,
    getPartDelayMs: () => 0,
    onDocumentMissing: () => undefined,
  });
  const document: Doc = { tabId: 1, frameId: 0, documentId: 'document', url: '', post: countMessage };
  calls.onDocumentConnected(document);
  calls.receive(document, { op: 'documentState', plugins: [{ name: 'chat', hash: 'hash' }], running: [] });
  calls.dispatch({
    dispatchId: callId,
    plugin: 'chat',
    tool: 'export',
    tabId: 1,
    documentId: 'document',
    maxResultBytes: 1,
    args: {},
  });
  calls.receive(document, { op: 'result', id: callId, text: '{}' });
  return { portBytes, frameBytes };
}

const registrations = await countRegistrations();
process.stdout.write(`${JSON.stringify({ registrations, ...(await countCallBytes()) })}\n`, () => process.exit(0));
