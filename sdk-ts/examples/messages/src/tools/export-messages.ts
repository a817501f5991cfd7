import { defineTool, fetchJSON, sleep } from '@opentabs/sdk';
import { z } from 'zod';

const message = z.object({
  id: z.string(),
  author: z.string().optional(),
  text: z.string(),
  sentAt: z.string().optional(),
});

/** One page of what the site's API answers. */
const page = z.object({
  messages: z.array(message),
  /** Where the next page begins; absent or null on the last one. */
  nextCursor: z.string().nullish(),
  totalPages: z.number().int().nonnegative().optional(),
});

export const exportMessages = defineTool({
  name: 'export_messages',
  displayName: 'Export messages',
  description: 'Returns all messages of a channel, oldest first. It reads them page by page and reports each page.',
  icon: 'download',
  group: 'Channels',
  annotations: { readOnlyHint: true, openWorldHint: false },
  input: z.object({
    channelId: z.string().min(1).describe("The channel's id, such as general"),
    pageDelayMs: z
      .number()
      .int()
      .min(0)
      .max(60_000)
      .default(0)
      .describe('How long to wait between two pages, in milliseconds'),
  }),
  output: z.object({
    channelId: z.string(),
    count: z.number().int().describe('How many messages there are'),
    messages: z.array(message),
  }),

  async handle({ channelId, pageDelayMs }, context) {
    const signal = context?.signal;
    const messages: z.infer<typeof message>[] = [];
    let cursor: string | null | undefined;
    for (let done = 1; ; done++) {
      const query = cursor ? `?cursor=${encodeURIComponent(cursor)}` : '';
      const url = `/api/channels/${encodeURIComponent(channelId)}/messages${query}`;
      const answer = await fetchJSON(url, { signal }, page);
      messages.push(...answer.messages);
      context?.reportProgress({
        progress: done,
        total: answer.totalPages,
        message: `${messages.length} messages read`,
        audience: 'user',
      });
      cursor = answer.nextCursor;
      if (!cursor) return { channelId, count: messages.length, messages };
      await sleep(pageDelayMs, { signal });
    }
  },
});
