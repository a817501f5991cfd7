// Reads properties of the document and of forms, even if elements of the page replace them. An element <img name=body>
// replaces document.body, and a field <input name=childNodes> replaces form.childNodes, even in the isolated world of
// the page script.

/**
 * unclobbered is a proxy of the document that always returns the built-in properties, even if elements of the page
 * replace them. DOM functions that require a Node, such as contains(), throw if they receive the proxy `unclobbered`.
 */
export const unclobbered: Document = new Proxy(document, {
  get(target, key) {
    const value: unknown = Reflect.get(Document.prototype, key, target);
    return typeof value === 'function' ? value.bind(target) : value;
  },
});

/** FormProperties are the properties of a form that the page script reads. */
const FormProperties =
  `addEventListener ariaLabel assignedSlot attributes checkVisibility childElementCount children childNodes
  clientHeight clientLeft clientTop clientWidth closest compareDocumentPosition contains dispatchEvent draggable
  firstChild firstElementChild focus getAttribute getBoundingClientRect getClientRects getRootNode hasAttribute
  hasAttributes inert innerText isConnected isContentEditable lastChild localName matches nextSibling nodeType
  offsetHeight offsetWidth ownerDocument parentElement parentNode querySelector querySelectorAll scrollBy scrollHeight
  scrollIntoView scrollLeft scrollTo scrollTop scrollWidth shadowRoot tabIndex tagName textContent`.split(/\s+/);

/** isClobbered reports whether fields of a form replace properties that the page script reads. */
export function isClobbered(node: Node): boolean {
  return node instanceof HTMLFormElement && FormProperties.some((property) => Object.hasOwn(node, property));
}

type Getter<T> = (node: Node) => T;

/** makeSafeGetter returns a function that reads a property of a node, even if form fields replace the property. */
function makeSafeGetter<T>(
  prototype: object,
  property: string,
  isValue: (value: unknown) => value is T,
): Getter<T | undefined> {
  const getter = Object.getOwnPropertyDescriptor(prototype, property)?.get;
  return (node) => {
    const value: unknown = getter ? Reflect.apply(getter, node, []) : undefined;
    return isValue(value) ? value : undefined;
  };
}

/** getChildNodes returns the child nodes of a node, even if form fields replace `childNodes`. */
export const getChildNodes = makeSafeGetter(Node.prototype, 'childNodes', (value) => value instanceof NodeList);
/** getParentNode returns the parent of a node, even if form fields replace `parentNode`. */
export const getParentNode = makeSafeGetter(Node.prototype, 'parentNode', (value) => value instanceof Node);
/** getFormAction returns the URL to which a form submits, even if form fields replace `action`. */
export const getFormAction = makeSafeGetter(HTMLFormElement.prototype, 'action', (value) => typeof value === 'string');
/** getFormElements returns the controls of a form, even if form fields replace `elements`. */
export const getFormElements = makeSafeGetter(
  HTMLFormElement.prototype,
  'elements',
  (value) => value instanceof HTMLFormControlsCollection,
);
