import { fetchJSON } from '@opentabs/sdk';
import { z } from 'zod';

export const message = z.object({
  id: z.string(),
  author: z.string().optional(),
  text: z.string(),
  sentAt: z.string().optional(),
});

/** One page of messages, as the site's API returns it. */
const page = z.object({
  messages: z.array(message),
  /** The cursor of the next page; absent or null on the last page. */
  nextCursor: z.string().nullish(),
  totalPages: z.number().int().nonnegative().optional(),
});

/** The schema of the parameter "channel" in all tools that read a channel. */
export const channelId = z.string().min(1).describe("The channel's id, such as general");

/** Yields the message pages of a channel one after another, beginning with the oldest messages. */
export async function* readPages(channel: string, signal: AbortSignal | undefined) {
  let cursor: string | null | undefined;
  do {
    const query = cursor ? `?cursor=${encodeURIComponent(cursor)}` : '';
    const url = `/api/channels/${encodeURIComponent(channel)}/messages${query}`;
    const answer = await fetchJSON(url, { signal }, page);
    yield answer;
    cursor = answer.nextCursor;
  } while (cursor);
}
