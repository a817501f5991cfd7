import { defineTool, getTextContent, querySelectorAll, waitForSelector } from '@opentabs/sdk';
import { z } from 'zod';

export const readOpenTicket = defineTool({
  name: 'read_open_ticket',
  displayName: 'Read the open ticket',
  description: 'Reads the ticket that is open in the tab, with its comments.',
  icon: 'book-open',
  annotations: { readOnlyHint: true },
  input: z.object({}),
  output: z.object({ title: z.string(), comments: z.array(z.string()) }),
  async handle(_params, context) {
    await waitForSelector('.ticket h1', { timeout: 5000, signal: context?.signal });
    const comments = querySelectorAll('.ticket .comment').map((comment) => comment.textContent?.trim() ?? '');
    return { title: getTextContent('.ticket h1') ?? '', comments };
  },
});
