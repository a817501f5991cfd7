import { buildQueryString, defineTool, fetchJSON, getLocalStorage, log, retry, setLocalStorage } from '@opentabs/sdk';
import { z } from 'zod';
import { urlOf, wantedLimit, wantedState } from '../settings.ts';

export const ticket = z.object({ id: z.string(), title: z.string(), state: z.enum(['open', 'closed']) });

/** The localStorage key of the project that was listed last. */
const lastProject = 'opentabs-tickets-project';

export const listTickets = defineTool({
  name: 'list_tickets',
  displayName: 'List tickets',
  description: 'Lists the tickets of a project. Without a project, lists the project of the last call.',
  icon: 'list-checks',
  annotations: { readOnlyHint: true },
  input: z.object({ project: z.string().min(1).optional().describe('The project, such as website') }),
  output: z.object({ project: z.string(), tickets: z.array(ticket) }),
  async handle(params, context) {
    const project = params.project ?? getLocalStorage(lastProject) ?? 'all';
    const query = buildQueryString({ project, state: wantedState(), limit: wantedLimit() });
    const url = urlOf(`/api/tickets?${query}`);
    const list = () => fetchJSON(url, { signal: context?.signal }, z.array(ticket));
    const tickets = await retry(list, { maxAttempts: 2, delay: 500, signal: context?.signal });
    log.info('listed tickets', { project, count: tickets.length });
    setLocalStorage(lastProject, project);
    return { project, tickets };
  },
});
