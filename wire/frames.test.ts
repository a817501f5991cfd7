import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import test from 'node:test';
import { checkResult, checkType, encodeNotification, encodeRequest, encodeResult, parseFrame } from './frame.ts';
import {
  type CallView,
  NotificationMethods,
  type Notifications,
  type PluginInfo,
  RequestMethods,
  type Requests,
  type RPCError,
  type TabInfo,
} from './wire.gen.ts';

const framesDir = new URL('testdata/frames/', import.meta.url);

type GoldenFrames = { readonly [M in keyof Requests as `${M}.params`]: Requests[M]['params'] } & {
  readonly [M in keyof Requests as `${M}.result`]: Requests[M]['result'];
} & { readonly [M in keyof Notifications as `${M}.params`]: Notifications[M] } & { readonly error: RPCError };

const messagesPlugin: PluginInfo = {
  name: 'messages',
  displayName: 'Messages',
  hash: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  world: 'main',
  matches: ['*://localhost/*', '*://127.0.0.1/*'],
  excludes: ['*://localhost/admin/*'],
  script: '4bf5122f344554c5',
  allFrames: true,
  frames: true,
  early: true,
  preScript: true,
  base: 'a1b2c3d4e5f60718',
  dev: true,
  file: 'adapters/messages-9f86d081.js',
};

const messagesTab: TabInfo = {
  tabId: 7,
  windowId: 1,
  url: 'http://localhost:8080/channels/general',
  title: 'general',
  active: true,
  focused: true,
  lastAccessedMs: 1790000000000.25,
  documentId: '5C3E0A1B',
  plugins: [{ name: 'messages', hash: messagesPlugin.hash }],
  needsReload: ['calendar'],
};

const runningCall: CallView = {
  callId: 'c-01k7',
  plugin: 'messages',
  tool: 'export_messages',
  status: 'running',
  progress: 0.42,
  message: 'page 42 of 100',
  client: 'Claude Code',
  tabId: 7,
  createdMs: 1790000000000,
  site: 'chat.example:8443',
  args: '{"channelId":"general"}',
  runMs: 31250.5,
  statusWord: 'indexing',
};

const endedCall: CallView = {
  callId: 'c-01k6',
  plugin: 'messages',
  tool: 'post',
  status: 'done',
  runMs: 800,
  userStatusWord: 'sent',
  endAudience: 'user',
  result: 'Sent to 3 members.',
};

const failedCall: CallView = {
  callId: 'c-01k5',
  plugin: 'messages',
  tool: 'export_messages',
  status: 'failed',
  runMs: 30000,
  error: 'no progress and no result for 30 s',
  nextStep: 'Retry it, or ask for less in one call.',
  errorCode: 'idle_timeout',
};

// sampleFrames contains one typed example for the params or result of each method. A renamed or missing field is a
// compile error, and an example that differs from its golden file in testdata/frames fails a test.
const sampleFrames: GoldenFrames = {
  'challenge.params': {
    nonce: '3kq7zmtv5xwpjhr2ycdlagnbfe',
    proof: 'c8339d5be8d3f8a69325bd3d6c544c472a100390eb3440941b50bec5d14e4494',
  },
  'hello.params': {
    protocol: 1,
    browserId: 'b-7d0c',
    browserName: 'Chrome on Linux',
    bootId: 'boot-51aa',
    extensionVersion: '0.1.0',
    capabilities: ['debugger'],
    proof: '98bd7df45f026fb104f32be76a74370379027649e40195d5fb2cd5f87345f0bb',
  },
  'hello.result': { protocol: 1, serverVersion: '0.1.0' },
  'ping.params': {},
  'ping.result': {},
  'tool.dispatch.params': {
    dispatchId: 'c-01k7',
    plugin: 'messages',
    tool: 'export_messages',
    tabId: 7,
    documentId: '5C3E0A1B',
    maxResultBytes: 104857600,
    args: { channelId: 'general', pageDelayMs: 700 },
  },
  'tool.dispatch.result': { output: { exported: 10000, note: 'größer als 0, 消息 ✓' } },
  'tool.cancel.params': { dispatchId: 'c-01k7', reason: 'the client cancelled the call' },
  'tool.cancel.result': { outcome: 'aborted' },
  'tool.progress.params': {
    dispatchId: 'c-01k7',
    seq: 41,
    reports: [
      { progress: 42, total: 100, loaded: 4200, message: 'page 42 of 100', status: 'reading', audience: 'user' },
      { percent: 42.5 },
      { message: 'the total is not a number', invalid: true },
      {},
    ],
    skipped: 3,
  },
  'tool.part.params': { dispatchId: 'c-01k7', seq: 0, text: '{"text":"xxxx' },
  'call.resumed.params': { dispatchIds: ['c-01k7', 'c-01k8'] },
  'call.cancel.params': { callId: 'c-01k7' },
  'call.cancel.result': { cancelled: true },
  'plugin.sync.params': { host: '2c26b46b68ffc68f', plugins: [messagesPlugin] },
  'plugin.sync.result': { mode: 'userScripts' },
  'plugin.fetch.params': { name: 'messages', script: messagesPlugin.script },
  'plugin.fetch.result': {
    code: 'function (globalThis) {}',
    options: '{"name":"messages"}',
    preScript: 'function (globalThis) {}',
  },
  'tab.sync.params': {
    tabs: [
      {
        tabId: 7,
        windowId: 1,
        url: 'http://localhost:8080/channels/general',
        title: 'general',
        active: true,
        focused: true,
        lastAccessedMs: 1790000000000.25,
        documentId: '5C3E0A1B',
        plugins: [
          { name: 'messages', hash: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08', ready: true },
        ],
        frames: [
          {
            frameId: 4,
            url: 'http://localhost:8080/embedded',
            documentId: '77AA01',
            plugins: [
              {
                name: 'messages',
                hash: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
                ready: false,
              },
            ],
          },
        ],
        needsReload: ['calendar'],
        broken: [
          {
            name: 'tickets',
            hash: '5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8',
            problem: 'the adapter threw an error during its start: x is not defined',
          },
        ],
      },
      {
        tabId: 8,
        windowId: 1,
        url: 'http://127.0.0.1:8080/',
        title: '',
        active: false,
        focused: true,
        lastAccessedMs: 1790000000000,
        discarded: true,
      },
    ],
  },
  'tab.changed.params': { tabId: 7, tab: messagesTab },
  'tab.holds.params': {
    tabs: [
      { tabId: 12, client: 'claude-code', site: 'https://shop.example', leftMs: 60000 },
      { tabId: 15, client: 'Cursor', site: 'http://localhost:3000', leftMs: 12000.5, taken: true },
    ],
  },
  'tab.userInput.params': { tabId: 12 },
  'session.ended.params': { sessions: ['session-3f9a11c27e0d'] },
  'session.used.params': { sessions: ['session-3f9a11c27e0d', 'session-77b02c9e41aa'] },
  'tab.release.params': { tabId: 12 },
  'state.browser.params': {
    permission: 'auto',
    groups: [
      { name: 'core', tools: [{ name: 'browser_click', displayName: 'Click', permission: 'ask' }] },
      {
        name: 'devtools',
        tools: [{ name: 'browser_evaluate', displayName: 'Evaluate', permission: 'off', dangerous: true }],
      },
    ],
    sites: [
      { site: '*.bank.example', permission: 'off' },
      { site: 'shop.example', allowed: [{ client: 'claude-code', class: 'act' }] },
    ],
  },
  'config.site.params': { site: 'shop.example', permission: 'read' },
  'config.site.result': {},
  'config.browserTools.params': { names: ['network', 'browser_evaluate'], on: true },
  'config.browserTools.result': {},
  'tab.release.result': {},
  'tab.load.params': { tabId: 7 },
  'tab.open.params': { url: 'https://tickets.example.com/' },
  'tab.open.result': { tabId: 12 },
  'tab.describe.params': { tabId: 12 },
  'tab.describe.result': {
    tab: {
      tabId: 12,
      url: 'https://shop.example.com/cart',
      title: 'Cart',
      documentId: '8E5D0E4E3A5B4C6D9F1A2B3C4D5E6F70',
      active: true,
    },
  },
  'plugin.log.params': {
    tabId: 7,
    plugin: 'messages',
    entries: [
      { level: 'warning', message: 'the channel is empty', data: [{ channel: 'a' }, 'second'], atMs: 1763744400123 },
      {
        level: 'error',
        message: 'export_messages failed: x is undefined',
        atMs: 1763744400124,
        stack: 'TypeError: x is undefined\n    at handle (adapter.js:120:9)',
        stackOrigin: 'Error\n    at adapter.js:100:5',
      },
    ],
    dropped: 3,
  },
  'plugin.settings.params': {
    name: 'tickets',
    settings: {
      values: { apiKey: 'k-1', pageSize: 50, verbose: true },
      urls: { instanceUrl: { work: 'https://tickets.example.com' } },
    },
  },
  'plugin.settings.result': {},
  'config.settings.params': {
    plugin: 'tickets',
    values: { apiKey: null, instanceUrl: { work: 'https://tickets.example.com' } },
  },
  'config.settings.result': {},
  'config.opening.params': { plugin: 'tickets', allowed: true },
  'config.opening.result': {},
  'config.calls.params': { plugin: 'tickets', other: 'messages', allowed: true },
  'config.calls.result': {},
  'config.lateAccess.params': { plugin: 'tickets', allowed: true },
  'config.lateAccess.result': {},
  'tab.load.result': { loading: true },
  'state.watch.params': { on: true },
  'state.sync.params': {
    serverVersion: '0.1.0',
    clients: ['Claude Code'],
    calls: [runningCall],
    ended: [endedCall, failedCall],
    running: 1,
  },
  'call.repeat.params': { callId: 'c-01k6' },
  'call.repeat.result': {},
  'call.inspect.params': { callId: 'c-01k6' },
  'call.inspect.result': {
    phases: [
      { name: 'request', startMs: 0, ms: 0.25 },
      { name: 'handler', startMs: 0.25, ms: 1200.5 },
    ],
    traced: true,
    traceId: '0af7651916cd43dd8448eb211c80319c',
    failure: {
      stack: ['exportMessages (src/tools/export.ts:31:11)'],
      hints: ['JSON.stringify cannot write a bigint.'],
      log: [{ atMs: 1790000000000.5, level: 'error', message: 'export failed' }],
    },
  },
  'call.undo.params': { callId: 'c-01k6' },
  'call.undo.result': { callId: 'c-01k7' },
  'call.decide.params': {
    callId: 'c-01k7',
    ticketId: 't-1',
    allow: true,
    scope: 'time',
    forMs: 600000,
    surface: 'popup',
  },
  'call.decide.result': { outcome: 'decided', allowed: true },
  'calls.history.params': {
    before: '2026-11-23.1:48211',
    limit: 200,
    filter: { tool: 'messages', client: 'Claude Code', text: 'general', failed: true },
  },
  'calls.history.result': {
    calls: [
      {
        call: {
          callId: 'c-01k7',
          plugin: 'messages',
          tool: 'post',
          status: 'failed',
          client: 'Claude Code',
          tabId: 7,
          createdMs: 1790000000000.25,
          site: 'messages.example.com',
          args: '{"channelId":"general","token":"[redacted]"}',
          runMs: 812.5,
          error: 'the browser did not reconnect within 10 s',
          errorCode: 'link_lost',
        },
        endedMs: 1790000000813,
        argsIncomplete: true,
        approvedBy: 'the side panel',
        approvedScope: 'session',
      },
      {
        call: {
          callId: 'c-01k6',
          plugin: 'messages',
          tool: 'echo',
          status: 'done',
          createdMs: 1789999990000,
          runMs: 3,
        },
        endedMs: 1789999990003,
      },
    ],
    next: '2026-11-23.1:47102',
  },
  'config.permission.params': { plugin: 'messages', tool: 'export_messages', permission: 'ask' },
  'config.permission.result': {},
  'config.review.params': {
    plugin: 'messages',
    hash: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    permission: 'ask',
  },
  'config.review.result': {},
  'plugin.inspect.params': { plugin: 'messages' },
  'plugin.inspect.result': {
    hash: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    description: 'Reads and writes messages.',
    package: '@acme/opentabs-plugin-messages',
    source: 'npm',
    folder: '/home/ada/.opentabs/packages/@acme/opentabs-plugin-messages/1.2.0-0a1b2c3d',
    author: 'Ada Lovelace',
    excludes: ['*://localhost/admin/*'],
    preScript: true,
    frames: true,
    warnings: ['the icon is too large'],
    powers: [
      {
        name: 'fetch',
        meaning: "Sends requests from the page, with the user's session.",
        sections: ['code', 'libraries'],
      },
    ],
    tools: [
      { name: 'echo', description: 'Returns its arguments.' },
      { name: 'delete_messages', description: 'Deletes messages.', destructive: true },
    ],
    sections: [
      { name: 'changes', pages: 1, lines: 40, added: 3, removed: 1 },
      { name: 'code', pages: 2, lines: 1500 },
    ],
    lastReview: { version: '1.1.0', permission: 'auto', atMs: 1763744400000 },
  },
  'plugin.page.params': {
    plugin: 'messages',
    hash: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    section: 'code',
    page: 2,
  },
  'plugin.page.result': { text: 'export function post() {\n', firstLine: 1201 },
  'plugin.install.params': { package: '@acme/opentabs-plugin-messages@^1.2.0' },
  'plugin.install.result': {
    plugin: 'messages',
    version: '1.2.0',
    previousVersion: '1.1.0',
    registry: 'https://registry.npmjs.org/',
    warnings: ['this version is deprecated by its author: use 2.0.0'],
  },
  'plugin.update.params': { plugin: 'messages' },
  'plugin.update.result': {
    version: '1.3.0',
    previousVersion: '1.2.0',
    latestVersion: '2.0.0',
    warnings: ['this version is deprecated by its author: use 2.0.0'],
  },
  'plugin.remove.params': { plugin: 'messages' },
  'plugin.remove.result': {},
  'state.plugins.params': {
    plugins: [
      {
        name: 'messages',
        displayName: 'Messages',
        version: '1.2.0',
        hash: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
        reviewed: true,
        changed: true,
        permission: 'ask',
        source: 'folder',
        problem: 'did not start in a page of https://example.com: x is not defined',
        matches: ['*://localhost/*'],
        tools: [
          {
            name: 'echo',
            displayName: 'Echo',
            permission: 'auto',
            readOnly: true,
            allowed: [{ client: 'claude-code', caller: 'tickets' }],
          },
          { name: 'export_messages', displayName: 'Export messages', category: 'Reading' },
          { name: 'delete_message', displayName: 'Delete message', undo: 'restore_message' },
        ],
        icon: 'svg',
        homepage: 'https://example.com/',
        settings: [
          {
            key: 'apiKey',
            type: 'string',
            label: 'API key',
            description: 'Create the key in the settings of your account.',
            placeholder: 'k-...',
            required: true,
            secret: true,
            set: true,
            withheld: true,
          },
          { key: 'size', type: 'select', label: 'Size', options: ['small', 'large'], set: true, value: 'small' },
        ],
        opening: true,
        opensAt: 'https://example.com/',
        world: 'main',
        late: true,
        lateAccess: true,
        calls: ['tickets'],
        refused: ['wiki'],
        recommended: { by: 'claude-code', permission: 'ask', note: 'Its tools only read.' },
      },
    ],
    failed: [
      {
        name: 'broken',
        path: '/home/ann/broken',
        error: 'dist/tools.json is missing; run `opentabs plugin build`',
      },
    ],
  },
  'state.waiting.params': { count: 3 },
  'tool.answer.params': { dispatchId: 'c-01k7', ask: 1, output: { found: 3 } },
  'tool.answer.result': { taken: true },
  'tool.ask.params': { dispatchId: 'c-01k7', ask: 1, call: { tool: 'other__search', tabId: 7, args: { query: 'x' } } },
  'tool.resync.params': { dispatchId: 'c-01k7', activityType: 'table' },
  error: {
    code: -32000,
    message: 'the site limits requests',
    data: {
      code: 'tool_error',
      message: 'the site limits requests',
      tool: { code: 'RATE_LIMITED', category: 'rate_limit', retryable: true, retryAfterMs: 1500 },
    },
  },
};

const variantFrames: { readonly [file: string]: GoldenFrames[keyof GoldenFrames] } = {
  'tool.dispatch.params.again': {
    dispatchId: 'c-01k7',
    plugin: 'messages',
    tool: 'export_messages',
    tabId: 7,
    documentId: '5C3E0A1B',
    maxResultBytes: 104857600,
    again: true,
    args: { channelId: 'general' },
  } satisfies GoldenFrames['tool.dispatch.params'],
  'hello.params.default': {
    protocol: 1,
    browserId: 'b-7d0c',
    browserName: 'Chrome on Linux',
    hasDefaultName: true,
    bootId: 'boot-51aa',
    extensionVersion: '0.1.0',
    capabilities: ['debugger'],
    proof: '98bd7df45f026fb104f32be76a74370379027649e40195d5fb2cd5f87345f0bb',
  } satisfies GoldenFrames['hello.params'],
  'hello.result.named': {
    protocol: 1,
    serverVersion: '0.1.0',
    browserName: 'Work',
    isGivenName: true,
  } satisfies GoldenFrames['hello.result'],
  'hello.result.paired': {
    protocol: 1,
    serverVersion: '0.1.0',
    pairedKey: 'u7m2',
  } satisfies GoldenFrames['hello.result'],
  'tool.dispatch.result.parts': { parts: 400 } satisfies GoldenFrames['tool.dispatch.result'],
  'tool.dispatch.result.undefined': {} satisfies GoldenFrames['tool.dispatch.result'],
  'tool.dispatch.result.null': { output: null } satisfies GoldenFrames['tool.dispatch.result'],
  'tool.progress.params.empty': { dispatchId: 'c-01k7' } satisfies GoldenFrames['tool.progress.params'],
  'tab.sync.params.empty': {} satisfies GoldenFrames['tab.sync.params'],
  'tab.changed.params.gone': { tabId: 7 } satisfies GoldenFrames['tab.changed.params'],
  'tab.changed.params.loading': {
    tabId: 8,
    tab: {
      tabId: 8,
      windowId: 1,
      url: 'http://localhost:8080/',
      title: '',
      active: true,
      focused: true,
      lastAccessedMs: 1790000000000,
      loading: ['messages'],
    },
  } satisfies GoldenFrames['tab.changed.params'],
  'tab.changed.params.failed': {
    tabId: 8,
    tab: {
      tabId: 8,
      windowId: 1,
      url: 'http://localhost:8080/',
      title: 'localhost',
      active: false,
      focused: true,
      lastAccessedMs: 1790000000000,
      needsReload: ['messages'],
      loadError: 'net::ERR_CONNECTION_REFUSED',
      loadFailedMs: 1790000000250.5,
    },
  } satisfies GoldenFrames['tab.changed.params'],
  'tab.changed.params.frozen': {
    tabId: 9,
    tab: {
      tabId: 9,
      windowId: 1,
      url: 'http://localhost:8080/',
      title: 'messages',
      active: false,
      focused: true,
      lastAccessedMs: 1790000000000,
      documentId: '6D4F1B2C',
      plugins: [
        {
          name: 'messages',
          hash: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
          ready: false,
        },
      ],
      frozen: true,
    },
  } satisfies GoldenFrames['tab.changed.params'],
  'error.notStarted': {
    code: -32000,
    message: 'the tab navigated to another document',
    data: { code: 'navigated', message: 'the tab navigated to another document', notStarted: true },
  } satisfies GoldenFrames['error'],
  'tab.describe.params.inspect': {
    tabId: 12,
    inspect: { refs: ['e7', 'f3e2'], focused: true },
  } satisfies GoldenFrames['tab.describe.params'],
  'tab.describe.result.secrets': {
    tab: {
      tabId: 12,
      url: 'https://shop.example.com/login',
      title: 'Log in',
      documentId: '8E5D0E4E3A5B4C6D9F1A2B3C4D5E6F70',
      active: true,
      secrets: { shown: ['code', 'password'], typed: ['password'] },
    },
  } satisfies GoldenFrames['tab.describe.result'],
  'error.pageText': {
    code: -32000,
    message: 'the element e7 is gone',
    data: {
      code: 'tool_error',
      message: 'the element e7 is gone',
      tool: { code: 'stale_ref', category: 'not_found', retryable: false },
      pageText: 'the element was: button "Pay"',
    },
  } satisfies GoldenFrames['error'],
  'error.userText': {
    code: -32000,
    message: 'the user pressed Cancel in the bar of the debugger',
    data: {
      code: 'tool_error',
      message: 'the user pressed Cancel in the bar of the debugger',
      userText: 'You pressed Cancel in the bar of the debugger. Allow the debugger again in the side panel.',
      tool: { code: 'debugger_refused', retryable: false },
    },
  } satisfies GoldenFrames['error'],
  'error.hops': {
    code: -32000,
    message: 'the export failed',
    data: { code: 'tool_error', message: 'the export failed' },
    hops: {
      workerInUs: 300,
      documentUs: 2100,
      workerOutUs: 200,
      page: { bridgeInUs: 100, hostInUs: 400, schemaUs: 100, handlerUs: 900, resultUs: 200 },
    },
  } satisfies GoldenFrames['error'],
  'plugin.sync.params.empty': {} satisfies GoldenFrames['plugin.sync.params'],
  'plugin.sync.result.none': { mode: 'none' } satisfies GoldenFrames['plugin.sync.result'],
  'state.browser.params.empty': { permission: 'off' } satisfies GoldenFrames['state.browser.params'],
  'config.site.params.default': { site: 'shop.example' } satisfies GoldenFrames['config.site.params'],
  'config.browserTools.params.all': { on: false } satisfies GoldenFrames['config.browserTools.params'],
  'tab.holds.params.empty': {} satisfies GoldenFrames['tab.holds.params'],
  'tab.describe.params.active': {} satisfies GoldenFrames['tab.describe.params'],
  'tab.describe.result.none': {} satisfies GoldenFrames['tab.describe.result'],
  'tab.describe.result.problem': {
    tab: {
      tabId: 7,
      url: 'chrome://settings/',
      title: 'Settings',
      problem: 'Chrome lets no extension into its own pages',
      active: false,
    },
  } satisfies GoldenFrames['tab.describe.result'],
  'state.sync.params.empty': { serverVersion: '0.1.0', running: 0 } satisfies GoldenFrames['state.sync.params'],
  'call.cancel.result.ended': { cancelled: false } satisfies GoldenFrames['call.cancel.result'],
  'call.decide.params.deny': {
    callId: 'c-01k7',
    ticketId: 't-1',
    allow: false,
  } satisfies GoldenFrames['call.decide.params'],
  'call.decide.result.already': {
    outcome: 'already',
    by: 'opentabs calls',
    allowed: false,
  } satisfies GoldenFrames['call.decide.result'],
  'calls.history.params.first': { limit: 50 } satisfies GoldenFrames['calls.history.params'],
  'call.inspect.result.empty': {} satisfies GoldenFrames['call.inspect.result'],
  'calls.history.result.empty': {} satisfies GoldenFrames['calls.history.result'],
  'config.permission.params.default': {
    plugin: 'messages',
    tool: 'export_messages',
  } satisfies GoldenFrames['config.permission.params'],
  'config.review.params.tools': {
    plugin: 'messages',
    hash: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    permission: 'auto',
    tools: [{ tool: 'post', permission: 'ask' }, { tool: 'export_messages' }],
  } satisfies GoldenFrames['config.review.params'],
  'state.plugins.params.empty': {} satisfies GoldenFrames['state.plugins.params'],
  'state.sync.params.waiting': {
    serverVersion: '0.1.0',
    calls: [
      {
        callId: 'c-01k7',
        plugin: 'messages',
        tool: 'export_messages',
        status: 'pending',
        client: 'Claude Code',
        runMs: 0,
        parentCallId: 'c-01k6',
        waiting: {
          ticketId: 't-1',
          kind: 'permission',
          reason: 'the permission of this tool is ask',
          args: '{"channelId":"general"}',
          caller: { plugin: 'tickets', tool: 'tickets__start', tabId: 7, origin: 'https://tickets.example.com' },
          leftMs: 299000,
          scopes: ['once', 'session', 'time', 'always'],
          pluginName: 'Messages',
          toolTitle: 'Export messages',
          description: 'Exports all messages of a channel.',
          readOnly: true,
          page: { browserName: 'Work', tabId: 7, tabTitle: 'general', site: 'https://messages.example.com' },
        },
      },
      {
        callId: 'c-01k6',
        plugin: 'messages',
        tool: 'summarise',
        status: 'running',
        progress: 0.5,
        message: 'page 2',
        runMs: 1200,
        prompt: true,
        userProgress: 0.25,
        userMessage: 'reading',
        decision: { ticketId: 't-0', allowed: true, by: 'a notification' },
        activities: [
          { type: 'text', content: '"reading page 2"', audience: 'user', bytes: 16 },
          { type: 'table', bytes: 70000 },
        ],
      },
    ],
    ended: [{ callId: 'c-01k5', plugin: 'messages', tool: 'echo', status: 'done', runMs: 3, endAudience: 'user' }],
    running: 2,
  } satisfies GoldenFrames['state.sync.params'],
  'tool.answer.params.error': {
    dispatchId: 'c-01k7',
    ask: 1,
    error: { code: 'denied', message: 'the user denied the call' },
  } satisfies GoldenFrames['tool.answer.params'],
  'tool.answer.params.undefined': { dispatchId: 'c-01k7', ask: 2 } satisfies GoldenFrames['tool.answer.params'],
  'tool.ask.params.user': {
    dispatchId: 'c-01k7',
    ask: 2,
    user: { reason: 'Log in to Messages in this tab.', title: 'Log in' },
  } satisfies GoldenFrames['tool.ask.params'],
  'tool.ask.params.withdrawn': {
    dispatchId: 'c-01k7',
    ask: 1,
    withdrawn: true,
  } satisfies GoldenFrames['tool.ask.params'],
  'tool.dispatch.params.decision': {
    dispatchId: 'c-01k9',
    plugin: 'messages',
    tool: 'export_messages',
    tabId: 7,
    documentId: '5C3E0A1B',
    maxResultBytes: 104857600,
    decision: { allow: true },
    args: { channelId: 'general' },
  } satisfies GoldenFrames['tool.dispatch.params'],
  'tool.dispatch.params.prompt': {
    dispatchId: 'c-01k8',
    plugin: 'messages',
    tool: 'summarise',
    tabId: 7,
    documentId: '5C3E0A1B',
    maxResultBytes: 104857600,
    prompt: true,
    args: { channel: 'general' },
  } satisfies GoldenFrames['tool.dispatch.params'],
  'tool.dispatch.params.trace': {
    dispatchId: 'c-01ka',
    plugin: 'messages',
    tool: 'count',
    tabId: 7,
    documentId: '5C3E0A1B',
    maxResultBytes: 104857600,
    trace: true,
    args: {},
  } satisfies GoldenFrames['tool.dispatch.params'],
  'tool.dispatch.result.hops': {
    output: 7,
    hops: {
      workerInUs: 90,
      documentUs: 1200,
      workerOutUs: 60,
      page: { bridgeInUs: 50, hostInUs: 100, schemaUs: 10, handlerUs: 300, resultUs: 40 },
    },
  } satisfies GoldenFrames['tool.dispatch.result'],
  'tool.progress.params.activity': {
    dispatchId: 'c-01k7',
    seq: 4,
    reports: [
      { audience: 'user', activity: { type: 'table', content: [{ id: 1 }] } },
      { activity: { type: 'table', patch: [{ op: 'add', path: '/-', value: { id: 2 } }] } },
      { endAudience: 'user' },
    ],
  } satisfies GoldenFrames['tool.progress.params'],
  'error.version': {
    code: -32001,
    message: 'Protocol versions differ: opentabs 1, extension 2. Update opentabs, then start it again.',
  } satisfies GoldenFrames['error'],
};

const allSamples: ReadonlyMap<string, unknown> = new Map(Object.entries({ ...sampleFrames, ...variantFrames }));

function readGoldenFrame(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`${name}.json`, framesDir), 'utf8'));
}

test('each golden frame equals its sample', () => {
  const files = readdirSync(framesDir).map((file) => file.replace(/\.json$/, ''));
  assert.deepEqual(files.sort(), [...allSamples.keys()].sort());
});

for (const [name, sampleFrame] of allSamples) {
  test(`golden ${name}`, () => {
    assert.deepEqual(readGoldenFrame(name), sampleFrame);
    // The encoded sample must equal the golden file byte by byte, so its fields must be in the order of the Go struct.
    assert.equal(readFileSync(new URL(`${name}.json`, framesDir), 'utf8'), `${JSON.stringify(sampleFrame)}\n`);
  });
}

function listGoldenNames(body: string): string[] {
  return [...allSamples.keys()].filter((name) => name === body || name.startsWith(`${body}.`));
}

test('each golden request and result is decoded unchanged', () => {
  for (const method of RequestMethods) {
    for (const name of listGoldenNames(`${method}.params`)) {
      const text = JSON.stringify({ jsonrpc: '2.0', id: 's1', method, params: readGoldenFrame(name) });
      assert.deepEqual(parseFrame(text), { kind: 'request', id: 's1', method, params: readGoldenFrame(name) }, name);
    }
    for (const name of listGoldenNames(`${method}.result`)) {
      const frame = parseFrame(JSON.stringify({ jsonrpc: '2.0', id: 's1', result: readGoldenFrame(name) }));
      assert.equal(frame.kind, 'result', name);
      if (frame.kind === 'result') {
        assert.deepEqual(checkResult(method, frame.result), { ok: true, value: readGoldenFrame(name) }, name);
      }
    }
  }
});

test('each golden notification is decoded unchanged', () => {
  for (const method of NotificationMethods) {
    for (const name of listGoldenNames(`${method}.params`)) {
      const text = JSON.stringify({ jsonrpc: '2.0', method, params: readGoldenFrame(name) });
      assert.deepEqual(parseFrame(text), { kind: 'notification', method, params: readGoldenFrame(name) }, name);
    }
  }
});

test('each golden error is decoded unchanged', () => {
  for (const name of listGoldenNames('error')) {
    const frame = parseFrame(JSON.stringify({ jsonrpc: '2.0', id: 's1', error: readGoldenFrame(name) }));
    assert.deepEqual(frame, { kind: 'error', id: 's1', error: readGoldenFrame(name) }, name);
    assert.ok(checkType('RPCError', readGoldenFrame(name)).ok);
  }
});

test('parseFrame decodes the frames that the encode functions return', () => {
  assert.deepEqual(parseFrame(encodeRequest('b1', 'hello', sampleFrames['hello.params'])), {
    kind: 'request',
    id: 'b1',
    method: 'hello',
    params: sampleFrames['hello.params'],
  });
  assert.deepEqual(parseFrame(encodeNotification('tab.sync', sampleFrames['tab.sync.params'])), {
    kind: 'notification',
    method: 'tab.sync',
    params: sampleFrames['tab.sync.params'],
  });
  assert.deepEqual(parseFrame(encodeResult('s1', 'tool.cancel', { outcome: 'ignored' })), {
    kind: 'result',
    id: 's1',
    result: { outcome: 'ignored' },
  });
});
