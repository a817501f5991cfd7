import { Component, type ComponentChildren, type ComponentType, createElement } from 'preact';

/** memoizeComponent returns a component that renders again only if its state or a prop has changed, by ===. */
export function memoizeComponent<P extends object>(draw: (props: P) => ComponentChildren): ComponentType<P> {
  return class extends Component<P> {
    override shouldComponentUpdate(nextProps: Readonly<P>): boolean {
      return !hasSameProps(this.props, nextProps);
    }
    override render(): ComponentChildren {
      return createElement(draw, this.props);
    }
  };
}

export function hasSameProps(a: object, b: object): boolean {
  const entries = Object.entries(a);
  const others = new Map(Object.entries(b));
  return (
    entries.length === others.size && entries.every(([name, value]) => others.has(name) && others.get(name) === value)
  );
}
