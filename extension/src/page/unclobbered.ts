// Reads properties of the document and of forms, even if elements of the page hide these properties. An element <img
// name=body> replaces document.body, and a field <input name=childNodes> replaces form.childNodes, even in the isolated
// world of the page script.

/** DOM functions that require a Node, such as contains(), throw if they receive the proxy `unclobberedDocument`. */
export const unclobberedDocument: Document = new Proxy(document, {
  get(target, key) {
    const value: unknown = Reflect.get(Document.prototype, key, target);
    return typeof value === 'function' ? value.bind(target) : value;
  },
});

const FormProperties =
  `addEventListener ariaLabel assignedSlot attributes checkVisibility childElementCount children childNodes
  clientHeight clientLeft clientTop clientWidth closest compareDocumentPosition contains dispatchEvent draggable
  firstChild firstElementChild focus getAttribute getBoundingClientRect getClientRects getRootNode hasAttribute
  hasAttributes inert innerText isConnected isContentEditable lastChild localName matches nextSibling nodeType
  offsetHeight offsetWidth ownerDocument parentElement parentNode querySelector querySelectorAll scrollBy scrollHeight
  scrollIntoView scrollLeft scrollTo scrollTop scrollWidth shadowRoot tabIndex tagName textContent`.split(/\s+/);

export function isForm(node: Node): boolean {
  return node instanceof HTMLFormElement;
}

export function isClobbered(node: Node): boolean {
  return isForm(node) && FormProperties.some((property) => Object.hasOwn(node, property));
}

type NodeGetter<T> = (node: Node) => T;

/** makeSafeGetter returns a function that reads a property of a node, even if form fields replace the property. */
function makeSafeGetter<T>(
  prototypeObject: object,
  property: string,
  isValue: (value: unknown) => value is T,
): NodeGetter<T | undefined> {
  const getter = Object.getOwnPropertyDescriptor(prototypeObject, property)?.get;
  return (node) => {
    const value: unknown = getter ? Reflect.apply(getter, node, []) : undefined;
    return isValue(value) ? value : undefined;
  };
}

export const getFirstChild = makeSafeGetter(Node.prototype, 'firstChild', (value) => value instanceof Node);
export const getNextSibling = makeSafeGetter(Node.prototype, 'nextSibling', (value) => value instanceof Node);
export const getParentNode = makeSafeGetter(Node.prototype, 'parentNode', (value) => value instanceof Node);
export const getFormAction = makeSafeGetter(HTMLFormElement.prototype, 'action', (value) => typeof value === 'string');
export const getFormElements = makeSafeGetter(
  HTMLFormElement.prototype,
  'elements',
  (value) => value instanceof HTMLFormControlsCollection,
);
