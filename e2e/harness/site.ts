/** Serves a local site for the test plugin "messages". */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Site {
  readonly origin: string;
  readonly url: string;
  readonly requestedChannels: string[];
  /** An aborted request proves that the cancellation of a call reached the page's code. */
  readonly abortedRequests: string[];
  servedPages: number;
  /** In some tests, a hostile page sends captured data to /note. */
  readonly receivedNotes: string[];
  setPageHtml(html: string): void;
  close(): Promise<void>;
}

const pageSize = 10;

export async function startSite(): Promise<Site> {
  let html = renderPlainPage('Messages');
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://site');
    const messagesApiMatch = /^\/api\/channels\/([^/]+)\/messages$/.exec(url.pathname);
    if (messagesApiMatch) {
      serveMessages(site, url, messagesApiMatch[1] ?? '', response);
    } else if (url.pathname === '/note') {
      let requestBody = '';
      request.on('data', (chunk) => {
        requestBody += String(chunk);
      });
      request.on('end', () => {
        site.receivedNotes.push(requestBody);
        response.end();
      });
    } else {
      response.setHeader('content-type', 'text/html; charset=utf-8');
      response.end(url.pathname === '/page' ? html : renderPlainPage(`Messages ${url.pathname}`));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const siteOrigin = `http://127.0.0.1:${readPort(server.address())}`;
  const site: Site = {
    origin: siteOrigin,
    url: `${siteOrigin}/`,
    requestedChannels: [],
    abortedRequests: [],
    servedPages: 0,
    receivedNotes: [],
    setPageHtml(newHtml) {
      html = newHtml;
    },
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
  return site;
}

function renderPlainPage(title: string): string {
  return `<!doctype html><html><head><title>${title}</title><link rel="icon" href="data:,"></head><body><h1>${title}</h1></body></html>`;
}

function readPort(address: string | AddressInfo | null): number {
  if (address === null || typeof address === 'string') throw new Error('the site has no port');
  return address.port;
}

/** The channel "slow-5-300" has 5 pages, and the test site delays each response by 300 ms. */
function serveMessages(site: Site, url: URL, channel: string, response: ServerResponse): void {
  const [, pages = '4', delayMs = '0'] = channel.split('-');
  const page = Number(url.searchParams.get('cursor') || '0');
  const totalPages = Number(pages);
  site.requestedChannels.push(channel);
  response.on('close', () => {
    clearTimeout(timer);
    if (!response.writableEnded) site.abortedRequests.push(`${channel} page ${page + 1}`);
  });
  const sendPageHtml = () => {
    site.servedPages++;
    const channelMessages = Array.from({ length: pageSize }, (_, i) => {
      const sentTime = new Date(Date.UTC(2026, 0, 1, 0, page, i)).toISOString();
      return {
        id: `${channel}/${page * pageSize + i + 1}`,
        text: `message ${page * pageSize + i + 1} of ${channel}`,
        author: i % 2 === 0 ? 'ada' : 'grace',
        sentAt: sentTime,
        timestamp: sentTime,
      };
    });
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({
        messages: channelMessages,
        ...(page + 1 < totalPages ? { nextCursor: String(page + 1) } : {}),
        totalPages,
      }),
    );
  };
  const timer = setTimeout(sendPageHtml, Number(delayMs));
}
