import { defineTool, getPreScriptValue, log, postJSON, ToolError } from '@opentabs/sdk';
import { z } from 'zod';
import { urlOf } from '../settings.ts';
import { ticket } from './list-tickets.ts';

export const createTicket = defineTool({
  name: 'create_ticket',
  displayName: 'Create a ticket',
  description: 'Creates a ticket and returns it.',
  icon: 'ticket-plus',
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  input: z.object({
    project: z.string().min(1).describe('The project, such as website'),
    title: z.string().min(1).max(200).describe('What the ticket is about, in a few words'),
  }),
  output: ticket,
  async handle(params, context) {
    const token = getPreScriptValue<string>('token');
    if (token === undefined) throw ToolError.auth('the site has not sent its token yet; reload the tab and try again');
    const headers = { 'x-ticket-token': token };
    const createdTicket = await postJSON(urlOf('/api/tickets'), params, { headers, signal: context?.signal }, ticket);
    log.info('created a ticket', { id: createdTicket.id });
    return createdTicket;
  },
});
