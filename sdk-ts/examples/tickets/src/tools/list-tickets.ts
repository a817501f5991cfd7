import { buildQueryString, defineTool, fetchJSON, getLocalStorage, log, retry, setLocalStorage } from '@opentabs/sdk';
import { z } from 'zod';
import { getLimitSetting, getStateSetting, urlOf } from '../settings.ts';

export const ticket = z.object({ id: z.string(), title: z.string(), state: z.enum(['open', 'closed']) });

/** The key in localStorage under which the plugin stores the project whose tickets were listed last. */
const lastProjectKey = 'opentabs-tickets-project';

export const listTickets = defineTool({
  name: 'list_tickets',
  displayName: 'List tickets',
  description: 'Lists the tickets of a project. Without a project, lists the project of the last call.',
  icon: 'list-checks',
  annotations: { readOnlyHint: true },
  input: z.object({ project: z.string().min(1).optional().describe('The project, such as website') }),
  output: z.object({ project: z.string(), tickets: z.array(ticket) }),
  async handle(params, context) {
    const project = params.project ?? getLocalStorage(lastProjectKey) ?? 'all';
    const query = buildQueryString({ project, state: getStateSetting(), limit: getLimitSetting() });
    const url = urlOf(`/api/tickets?${query}`);
    const fetchTickets = () => fetchJSON(url, { signal: context?.signal }, z.array(ticket));
    const tickets = await retry(fetchTickets, { maxAttempts: 2, delay: 500, signal: context?.signal });
    log.info('listed tickets', { project, count: tickets.length });
    setLocalStorage(lastProjectKey, project);
    return { project, tickets };
  },
});
