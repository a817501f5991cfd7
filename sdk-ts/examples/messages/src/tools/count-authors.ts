import { defineTool } from '@opentabs/sdk';
import { z } from 'zod';
import { channelId, readPages } from '../channel.ts';

const authorRow = z.object({ author: z.string(), messages: z.number().int() });

export const countAuthors = defineTool({
  name: 'count_authors',
  displayName: 'Count authors',
  description: 'Counts the messages of each author in a channel, and shows a table that grows with each page.',
  icon: 'table',
  group: 'Channels',
  annotations: { readOnlyHint: true, openWorldHint: false },
  input: z.object({ channelId }),
  output: z.object({ authors: z.array(authorRow) }),

  async handle({ channelId }, context) {
    const authors: z.infer<typeof authorRow>[] = [];
    context?.endAudience('user');
    context?.reportActivity('table', authors, { audience: 'user' });
    for await (const page of readPages(channelId, context?.signal)) {
      for (const { author = 'unknown' } of page.messages) {
        const index = authors.findIndex((knownAuthor) => knownAuthor.author === author);
        const messages = (authors[index]?.messages ?? 0) + 1;
        if (index < 0) {
          authors.push({ author, messages });
          context?.reportActivityDelta('table', { op: 'add', path: '/-', value: { author, messages } });
        } else {
          authors[index] = { author, messages };
          context?.reportActivityDelta('table', { op: 'replace', path: `/${index}/messages`, value: messages });
        }
      }
    }
    return { authors };
  },
});
