/** What the panel is shown: calls and plugins as the server tells of them. */
import type {
  ActivityView,
  CallView,
  FailedPluginView,
  PluginView,
  SettingView,
  WaitingView,
} from '../../wire/wire.gen.ts';

/** call makes a running call. */
export function call(callId: string, more: Partial<CallView> = {}): CallView {
  const made = { callId, plugin: 'messages', tool: 'export_messages', status: 'running', runMs: 12_345 } as const;
  return { ...made, client: 'Claude Code', ...more };
}

/** asking makes a call that waits for a permission, by default with all scopes. */
export function asking(callId: string, ticketId: string, more: Partial<WaitingView> = {}): CallView {
  const waiting: WaitingView = {
    ticketId,
    kind: 'permission',
    reason: 'messages asks before each call.',
    args: '{"channelId":"general","limit":10000,"since":"2026-01-01"}',
    leftMs: 272_000,
    scopes: ['once', 'session', 'time', 'always'],
    ...more,
  };
  return call(callId, { status: 'pending', runMs: 0, waiting });
}

/** running are calls of all kinds that run, and some that ended. */
export const running: readonly CallView[] = [
  call('c1', { progress: 0.42, userMessage: 'page 42 of 100', userStatusWord: 'indexing' }),
  call('c2', { tool: 'summarise', prompt: true, client: 'Claude Desktop', progress: 0.7, message: 'chunk 7 of 10' }),
  call('c3', { tool: 'read_thread', parentCallId: 'c2', userMessage: 'reading “Grüße”', runMs: 4000 }),
  call('c4', { plugin: 'calendar', tool: 'list_events', parentCallId: 'c3', status: 'pending', runMs: 0 }),
  call('c5', { plugin: 'calendar', tool: 'find_a_slot_for_everybody_in_the_team', client: 'Cursor', runMs: 65_000 }),
  call('c6', { tool: 'post', status: 'done', endAudience: 'user', result: 'Sent to 3 people.', runMs: 800 }),
  call('c7', { tool: 'echo', status: 'done', result: '{"secret":1}', runMs: 3 }),
  call('c8', { tool: 'search', status: 'cancelled', runMs: 5100, error: 'stopped by the side panel' }),
];

/** failed are calls that ended. */
export const failed: readonly CallView[] = [
  call('f1', {
    status: 'failed',
    runMs: 31_000,
    error: 'No progress for 30 s. Last progress: page 42 of 100, 30 s ago. Ask for fewer pages, or retry.',
  }),
  call('f2', { tool: 'post', status: 'failed', runMs: 120, error: 'Channel not found' }),
  call('f3', { tool: 'echo', status: 'done', runMs: 3 }),
];

/** suspended are calls that wait for a person, one of them in a tab. */
export function suspended(tabId: number): readonly CallView[] {
  const login = asking('s2', 't2', {
    kind: 'user',
    title: 'Log in to continue',
    reason: 'The site signed you out after 2 of 10 pages.',
    leftMs: 45_000,
  });
  return [
    asking('s1', 't1'),
    { ...login, tabId, runMs: 12_000, userMessage: 'page 2 of 10' },
    { ...asking('s3', 't3', { scopes: ['once'], args: '{}' }), tool: 'post', client: 'Cursor' },
  ];
}

/** activity makes one that is meant for people. */
export function activity(type: string, value: unknown): ActivityView {
  const content = JSON.stringify(value);
  return { type, content, audience: 'user', bytes: content.length };
}

const rows = Array.from({ length: 30 }, (_, i) => ({
  id: i + 1,
  from: ['Ada', 'Grace', 'Linus'][i % 3],
  subject: `Subject of message ${i + 1}`,
  unread: i % 2 === 0,
}));

/** activities is a call with one activity of each type. */
export const activities: readonly CallView[] = [
  call('a1', {
    progress: 0.6,
    userMessage: 'thread 6 of 10',
    activities: [
      activity('text', 'Read 6 threads.\nTwo of them are about the release. <img src=x onerror="document.title=1">'),
      activity('code', {
        language: 'sql',
        code: "SELECT id, subject\nFROM messages\nWHERE channel = $1 AND created_at > now() - interval '7 days'\nORDER BY id;",
      }),
      activity('table', rows),
      activity('debug', { cursor: 'abc', seen: [1, 2, 3] }),
      { type: 'log', audience: 'user', bytes: 1_400_000 },
      { type: 'notes', content: '"for nobody"', bytes: 12 },
    ],
  }),
];

/** many makes 30 calls at once; at says how far they are, from 0 to 1. */
export function many(at: number): readonly CallView[] {
  const tools = ['export_messages', 'read_thread', 'search', 'list_channels'];
  return Array.from({ length: 30 }, (_, i) =>
    call(`m${i}`, {
      tool: tools[i % 4] ?? '',
      runMs: 60_000 - i * 1700,
      ...(i % 3 === 0 ? { progress: Math.min(1, at + i / 60), userMessage: `page ${i} of 30` } : {}),
      ...(i % 7 === 5 ? { status: 'pending' as const } : {}),
      ...(i === 2 ? { activities: [activity('text', 'hello')] } : {}),
    }),
  );
}

function plugin(name: string, displayName: string, more: Partial<PluginView> = {}): PluginView {
  return {
    name,
    displayName,
    version: '1.2.0',
    hash: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    reviewed: true,
    permission: 'ask',
    matches: ['*://localhost/*', '*://127.0.0.1/*'],
    tools: [
      { name: 'echo', displayName: 'Echo', readOnly: true, permission: 'auto', category: 'Reading' },
      { name: 'export_messages', displayName: 'Export messages', category: 'Reading' },
      { name: 'post', displayName: 'Post', permission: 'off', category: 'Writing' },
    ],
    ...more,
  };
}

/** plugins are one of each kind. */
export const plugins: readonly PluginView[] = [
  plugin('messages', 'Messages'),
  plugin('calendar', 'Calendar', { permission: 'auto', matches: ['https://calendar.example.com/*'] }),
  plugin('bank', 'Bank', { permission: 'off', matches: ['https://bank.example.com/*', 'https://*.bank.example/*'] }),
  plugin('mail', 'Mail for teams', {
    reviewed: false,
    permission: 'off',
    version: '2.0.0-beta.1',
    matches: ['https://mail.example.com/*'],
  }),
];

/** settings are one of each type; the first, which is required, is not set. */
export const settings: readonly SettingView[] = [
  {
    key: 'site',
    type: 'url',
    label: 'Site',
    description: 'Where your wiki is.',
    required: true,
    placeholder: 'https://wiki.example.com',
  },
  { key: 'apiToken', type: 'string', label: 'API token', secret: true, set: true },
  { key: 'size', type: 'number', label: 'Results on a page', set: true, value: 20 },
  { key: 'drafts', type: 'boolean', label: 'Read drafts', set: true, value: false },
  { key: 'order', type: 'select', label: 'Order', options: ['newest', 'oldest'], set: true, value: 'newest' },
];

/** evilIcon would run a script and load a picture if it were more than an image. */
const evilIcon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16" onload="document.title=\'pwned\'"><script>document.title="pwned"</script>' +
  '<image href="http://127.0.0.1:9/beacon.png"/><circle cx="8" cy="8" r="7" fill="#3b82f6"/></svg>';

/** wiki is a plugin that needs settings, and may open its page. */
export function wiki(more: Partial<PluginView> = {}): PluginView {
  return plugin('wiki', 'Wiki', {
    icon: evilIcon,
    homepage: 'https://wiki.example.com/',
    matches: [],
    settings,
    opensAt: 'https://wiki.example.com/start?of=a&very=long&address=that-does-not-fit-into-one-line',
    ...more,
  });
}

/** recommended is a plugin that an agent would let in. */
export const recommended = plugin('notes', 'Notes', {
  reviewed: false,
  permission: 'off',
  icon: evilIcon,
  matches: ['https://notes.example.com/*'],
  recommended: {
    by: 'claude-code',
    permission: 'ask',
    note: 'Reads and writes notes. Its code calls /api/notes only. <b>bold</b>',
  },
});

/** broken are plugins that can't be loaded. */
export const broken: readonly FailedPluginView[] = [
  { name: 'old', path: '/home/ann/plugins/old', error: 'dist/tools.json is missing; run opentabs plugin build first' },
];
