import { type ConfigSchema, getConfig, ToolError } from '@opentabs/sdk';

export const settings = {
  site: {
    type: 'url',
    label: 'Site',
    description: 'Where your team keeps its tickets.',
    required: true,
    placeholder: 'https://tickets.example.com',
  },
  state: { type: 'select', label: 'Tickets to list', options: ['open', 'closed', 'all'] },
  limit: { type: 'number', label: 'How many tickets to list' },
} satisfies ConfigSchema;

/** Returns the URL of a path on the configured site. */
export function urlOf(path: string): string {
  const site = getConfig('site');
  if (typeof site !== 'string')
    throw ToolError.validation('the setting site is missing; set it with opentabs plugin configure tickets');
  return new URL(path, site).href;
}

/** Returns the state of the tickets to list; `open` if the user has not set a state. */
export function getStateSetting(): string {
  return String(getConfig('state') ?? 'open');
}

/** Returns how many tickets to list; 20 if the user has not set a limit. */
export function getLimitSetting(): number {
  return Number(getConfig('limit') ?? 20);
}
