/** Serves the web pages of the browser tool benchmark on localhost. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { serveShop } from './shop.ts';

export interface BenchSite {
  readonly origin: string;
  /** Each report consists of the name of a benchmark run and the name of an event, such as "ours-1 order". */
  readonly reports: string[];
  close(): Promise<void>;
}

/** Browsers resolve every name that ends in .localhost to the loopback address. */
export const siteHost = 'shop.localhost';

export async function startBenchSite(): Promise<BenchSite> {
  const reports: string[] = [];
  const servePage = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '/', 'http://site');
    if (url.pathname === '/report') {
      reports.push(await text(request));
      response.end();
      return;
    }
    const html = url.pathname === '/orders' ? makeOrdersPage(Number(url.searchParams.get('nodes'))) : undefined;
    if (html === undefined && (await serveShop(url, request, response, reports))) return;
    response.statusCode = html === undefined ? 404 : 200;
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.end(html ?? '<!doctype html><title>Not found</title>');
  };
  const server = createServer((request, response) => void servePage(request, response));
  // Listen on all addresses, because Chrome may resolve names that end in .localhost to ::1.
  await new Promise<void>((resolve) => server.listen(0, resolve));
  const serverAddress = server.address();
  const port = typeof serverAddress === 'object' && serverAddress ? serverAddress.port : 0;
  return {
    origin: `http://${siteHost}:${port}`,
    reports,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const nodesPerRow = 11;
const nodesPerPost = 5;
const nonRowNodeCount = 32;

export function makeOrdersPage(nodeCount: number): string {
  const postCount = Math.max(2, Math.round((nodeCount - nonRowNodeCount) / 5 / nodesPerPost));
  const rowCount = Math.max(2, Math.round((nodeCount - nonRowNodeCount - postCount * nodesPerPost) / nodesPerRow));
  const customerNames = ['Ada Lovelace', 'Grace Hopper', 'Alan Turing', 'Edsger Dijkstra', 'Barbara Liskov'];
  const postTopics = ['payment ticket', 'late delivery', 'wrong size', 'new address', 'refund'];
  const invoiceStates = ['Open', 'Paid', 'Sent', 'Closed'];
  const renderRow = (i: number) =>
    `<tr><td>#${i}</td><td><div><a href="#${i}">${customerNames[i % 5]}</a> <span>${postTopics[i % 5]}</span></div></td>` +
    `<td>${invoiceStates[i % 4]}</td><td><div><button aria-label="Edit order ${i}">Edit</button> <button>Delete</button></div></td></tr>`;
  const renderPost = (i: number) =>
    `<article><h3>Note ${i}</h3><p>${customerNames[(i + 2) % 5]} has answered a question about a ${postTopics[(i * 3) % 5]}.</p>` +
    `<a href="#n${i}">Open note ${i}</a><time>${(i % 28) + 1} May</time></article>`;
  return `<!doctype html><html lang="en"><head><title>Orders ${nodeCount}</title><link rel="icon" href="data:,"></head><body>
<nav aria-label="Main"><ul>${['Home', 'Orders', 'Customers', 'Reports'].map((name) => `<li><a href="#${name}">${name}</a></li>`).join('')}</ul></nav>
<main><h1>Orders</h1><button id="add">New order</button>
<form aria-label="Filter" onsubmit="return false"><label>Search <input type="search"></label>
<label>Status <select>${['All', ...invoiceStates].map((name) => `<option>${name}</option>`).join('')}</select></label>
<label><input type="checkbox"> Only mine</label></form>
<table><caption>Orders</caption><thead><tr><th>Id</th><th>Subject</th><th>Status</th><th>Actions</th></tr></thead>
<tbody id="rows">${Array.from({ length: rowCount }, (_, i) => renderRow(1001 + i)).join('')}</tbody></table>
<section role="feed" aria-label="Notes">${Array.from({ length: postCount }, (_, i) => renderPost(i + 1)).join('')}</section></main>
<script>
let clicks = 0, last = 9000;
document.addEventListener('click', () => clicks++);
add.onclick = () => {
  last++;
  rows.insertAdjacentHTML('afterbegin', '<tr><td>#' + last + '</td><td><div><a href="#' + last + '">New customer</a> <span>new</span></div></td>' +
    '<td>Open</td><td><div><button aria-label="Edit order ' + last + '">Edit</button> <button>Delete</button></div></td></tr>');
  if (rows.rows.length > ${rowCount + 3}) rows.rows[3].remove();
};
</script></body></html>`;
}
