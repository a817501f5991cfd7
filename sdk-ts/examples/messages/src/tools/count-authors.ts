import { defineTool } from '@opentabs/sdk';
import { z } from 'zod';
import { channelId, pagesOf } from '../channel.ts';

const row = z.object({ author: z.string(), messages: z.number().int() });

export const countAuthors = defineTool({
  name: 'count_authors',
  displayName: 'Count authors',
  description: 'Counts the messages of each author in a channel, and shows a table that grows with each page.',
  icon: 'table',
  group: 'Channels',
  annotations: { readOnlyHint: true, openWorldHint: false },
  input: z.object({ channelId }),
  output: z.object({ authors: z.array(row) }),

  async handle({ channelId }, context) {
    const authors: z.infer<typeof row>[] = [];
    context?.endAudience('user');
    context?.reportActivity('table', authors, { audience: 'user' });
    for await (const page of pagesOf(channelId, context?.signal)) {
      for (const { author = 'unknown' } of page.messages) {
        const at = authors.findIndex((row) => row.author === author);
        const messages = (authors[at]?.messages ?? 0) + 1;
        if (at < 0) {
          authors.push({ author, messages });
          context?.reportActivityDelta('table', { op: 'add', path: '/-', value: { author, messages } });
        } else {
          authors[at] = { author, messages };
          context?.reportActivityDelta('table', { op: 'replace', path: `/${at}/messages`, value: messages });
        }
      }
    }
    return { authors };
  },
});
