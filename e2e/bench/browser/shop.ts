/** Serves the web shop in which a simulated agent orders a lamp in ten steps. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';

export const shopSteps = [
  'opened',
  'searched',
  'product',
  'variant',
  'added',
  'checkout',
  'uploaded',
  'edited',
  'ordered',
  'number',
] as const;

export type ShopStep = (typeof shopSteps)[number];

const productNames = ['Desk lamp Ada', 'Floor lamp Grace', 'Wall lamp Alan', 'Table lamp Edsger', 'Lamp shade Barbara'];
const allProducts = [...productNames, ...Array.from({ length: 20 }, (_, i) => `Chair model ${i + 1}`)];

export async function serveShop(
  url: URL,
  request: IncomingMessage,
  response: ServerResponse,
  reports: string[],
): Promise<boolean> {
  const runName = url.searchParams.get('run') ?? '';
  const sendHtml = (html: string) => {
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.end(html);
  };
  switch (url.pathname) {
    case '/shop':
      reports.push(`${runName} opened`);
      sendHtml(renderShopPage(runName));
      return true;
    case '/shop/search': {
      const query = (url.searchParams.get('q') ?? '').toLowerCase();
      if (query === 'lamp') reports.push(`${runName} searched`);
      const foundProducts = allProducts.filter((name) => name.toLowerCase().includes(query));
      setTimeout(() => response.end(JSON.stringify(foundProducts)), searchDelayMs);
      return true;
    }
    case '/shop/product':
      if (url.searchParams.get('name') === productNames[2]) reports.push(`${runName} product`);
      sendHtml(renderProductPage(runName, url.searchParams.get('name') ?? ''));
      return true;
    case '/shop/checkout':
      sendHtml(renderCheckoutPage(runName));
      return true;
    case '/shop/order': {
      const body = new URLSearchParams(await text(request));
      const isComplete = body.get('quantity') === '3' && body.get('name') === 'Ada Lovelace' && body.has('gift');
      if (isComplete) reports.push(`${runName} ordered`);
      sendHtml(
        renderLayout('Thank you', `<h1>Thank you</h1><p>Your order number is <b>${makeOrderNumber(runName)}</b>.</p>`),
      );
      return true;
    }
    default:
      return false;
  }
}

const searchDelayMs = 30;

export function makeOrderNumber(runName: string): string {
  let sum = 7;
  for (const char of runName) sum = (sum * 31 + char.charCodeAt(0)) % 90_000;
  return `OT-${10_000 + sum}`;
}

function renderLayout(title: string, mainHtml: string): string {
  const links = ['Lamps', 'Chairs', 'Tables', 'Sale', 'Help', 'Account'].map(
    (name) => `<li><a href="#${name}">${name}</a></li>`,
  );
  return `<!doctype html><html lang="en"><head><title>${title} - Shop</title><link rel="icon" href="data:,"></head><body>
<header><nav aria-label="Shop"><ul>${links.join('')}</ul></nav></header><main>${mainHtml}</main>
<footer><h2>Service</h2><ul>${['Delivery', 'Returns', 'Contact', 'Imprint', 'Privacy'].map((name) => `<li><a href="#${name}">${name}</a></li>`).join('')}</ul>
<p>Prices with tax. Delivery in 3 to 5 days.</p></footer></body></html>`;
}

const renderReportScript = (runName: string) =>
  `const report = (event) => navigator.sendBeacon('/report', ${JSON.stringify(`${runName} `)} + event);`;

function renderShopPage(runName: string): string {
  const card = (name: string) =>
    `'<article><h3>' + ${name} + '</h3><p>In stock</p><a href="/shop/product?run=${runName}&name=' + encodeURIComponent(${name}) + '">Open ' + ${name} + '</a></article>'`;
  return renderLayout(
    'Home',
    `<h1>Welcome</h1><form role="search" id="search"><label>Search products <input id="query" type="search"></label> <button>Search</button></form>
<p id="status" role="status"></p><section id="results" aria-label="Products"></section>
<script>
const show = (names) => { results.innerHTML = names.map((name) => ${card('name')}).join(''); };
show(${JSON.stringify(allProducts)});
search.onsubmit = async (event) => {
  event.preventDefault();
  const names = await (await fetch('/shop/search?run=${runName}&q=' + encodeURIComponent(query.value))).json();
  document.getElementById('status').textContent = names.length + ' products found';
  show(names);
};
</script>`,
  );
}

function renderProductPage(runName: string, name: string): string {
  const productReviews = Array.from(
    { length: 12 },
    (_, i) =>
      `<li><b>Customer ${i + 1}</b> <span>${(i % 3) + 3} of 5 stars</span><p>Works well in our office number ${i + 1}.</p></li>`,
  );
  return renderLayout(
    name,
    `<h1>${name}</h1><p>A lamp of steel and glass.</p>
<fieldset><legend>Finish</legend>${['Black', 'White', 'Brass', 'Copper'].map((finish) => `<label><input type="radio" name="finish" value="${finish}"> ${finish}</label>`).join('')}</fieldset>
<p>Price: <output id="price">120 EUR</output></p><button id="add" disabled>Add to cart</button> <a id="cart" hidden href="/shop/checkout?run=${runName}">Checkout</a>
<p id="status" role="status"></p><section aria-label="Reviews"><h2>Reviews</h2><ul>${productReviews.join('')}</ul></section>
<script>
${renderReportScript(runName)}
document.querySelectorAll('[name=finish]').forEach((input) => input.addEventListener('change', () => {
  add.disabled = false;
  price.textContent = input.value === 'Brass' ? '149 EUR' : '120 EUR';
  if (input.value === 'Brass') report('variant');
}));
add.onclick = () => setTimeout(() => {
  document.getElementById('status').textContent = '1 lamp is in your cart';
  cart.hidden = false;
  report('added');
}, 30);
</script>`,
  );
}

const countryNames = [
  'Austria',
  'Belgium',
  'Denmark',
  'Finland',
  'France',
  'Germany',
  'Italy',
  'Norway',
  'Poland',
  'Portugal',
  'Spain',
  'Sweden',
];

function renderCheckoutPage(runName: string): string {
  return renderLayout(
    'Checkout',
    `<h1>Checkout</h1><form id="order" method="post" action="/shop/order?run=${runName}">
<label>Full name <input name="name" required></label><label>Street and number <input name="street" required></label>
<label>City <input name="city" required></label>
<label>Country <select name="country">${countryNames.map((country) => `<option>${country}</option>`).join('')}</select></label>
<label><input type="checkbox" name="gift"> Wrap as a gift</label>
<label>Engraving picture <input type="file" id="picture" accept=".txt,.png"></label><p id="fileName" role="status"></p>
<table><caption>Cart</caption><thead><tr><th>Product</th><th>Quantity</th><th>Price</th><th></th></tr></thead><tbody>
<tr><td>Wall lamp Alan</td><td id="cell">1</td><td id="sum">149 EUR</td><td><button type="button" id="edit">Edit quantity</button></td></tr>
<tr><td>Delivery</td><td>1</td><td>5 EUR</td><td></td></tr></tbody></table>
<input type="hidden" name="quantity" id="quantity" value="1"><button id="place">Place order</button></form>
<script>
${renderReportScript(runName)}
const form = document.getElementById('order');
form.addEventListener('change', () => {
  const { name, street, city, country, gift } = form.elements;
  if (name.value === 'Ada Lovelace' && street.value === 'Main Street 1' && city.value === 'London' && country.value === 'Norway' && gift.checked) report('checkout');
});
picture.onchange = () => {
  fileName.textContent = picture.files[0].name + ' was added';
  if (picture.files[0].size === 12) report('uploaded');
};
edit.onclick = () => {
  if (edit.textContent === 'Save quantity') {
    const value = cell.firstChild.value;
    cell.textContent = quantity.value = value;
    sum.textContent = 149 * value + ' EUR';
    edit.textContent = 'Edit quantity';
    if (value === '3') report('edited');
  } else {
    cell.innerHTML = '<input aria-label="Quantity of Wall lamp Alan" value="1">';
    edit.textContent = 'Save quantity';
  }
};
</script>`,
  );
}
