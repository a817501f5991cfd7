/** Makes TabFrames whose documents are simulated, for unit tests of tools that read or operate pages. */
import type { TabFrame } from '../src/chrome-pages.ts';
import type { PageAnswer } from '../src/page/operations.ts';
import { type PageToWorkerMessage, readMessageToPage, type WorkerToPageMessage } from '../src/page-message.ts';
import { splitText, TextJoiner } from '../src/text-pieces.ts';
import { PageScripts } from '../src/worker/browser/page-scripts.ts';
import { TabFrames } from '../src/worker/browser/tab-frames.ts';

export type RunMessage = Extract<WorkerToPageMessage, { op: 'run' }>;

export interface SimulatedPort {
  send(message: PageToWorkerMessage): void;
  /** The method `disconnect` simulates the end of the document. */
  disconnect(): void;
}

export interface FramesFixtureOptions {
  listTabFrames(): readonly TabFrame[];
  /** If `answer` returns undefined, the operation gets no answer. */
  answer(
    documentId: string,
    message: RunMessage,
    port: SimulatedPort,
  ): PageAnswer | undefined | Promise<PageAnswer | undefined>;
}

export function makeTabFrames({ listTabFrames, answer }: FramesFixtureOptions): TabFrames {
  const scripts = new PageScripts({
    numbers: { get: async () => ({ ref: 0, snapshot: 0 }), set: async () => undefined },
    inject: async () => undefined,
    connect: (_tabId, documentId, events) => {
      const textJoiner = new TextJoiner();
      const port: SimulatedPort = {
        send: (message) => {
          for (const piece of splitText(JSON.stringify(message))) events.onText(piece);
        },
        disconnect: () => events.onDisconnect(),
      };
      const post = async (piece: string) => {
        const text = textJoiner.add(piece);
        const message = text === undefined ? undefined : readMessageToPage(text);
        if (message?.op !== 'run') return;
        const pageAnswer = await answer(documentId, message, port);
        if (!pageAnswer) return;
        port.send({ op: 'answer', id: message.id, answer: pageAnswer, last: { ref: 0, snapshot: 0 } });
      };
      return { post: (piece) => void post(piece), disconnect: () => undefined };
    },
    readTabState: async () => 'open',
    hasDocument: async () => true,
    findAccessProblem: async () => undefined,
    isBlocked: () => false,
  });
  return new TabFrames({ scripts, listTabFrames: async () => listTabFrames(), isInFront: async () => false });
}

/** idleBrowser simulates the tab functions of Chrome for a tab that neither navigates nor loads. */
export const idleBrowser = {
  watchTabs: () => () => undefined,
  readLoadedPage: async () => undefined,
  readDisplayedTab: async () => undefined,
  describeTab: async () => undefined,
  findAccessProblem: () => undefined,
} as const;
