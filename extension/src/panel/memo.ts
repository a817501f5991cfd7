import { Component, type ComponentChildren, type ComponentType, createElement } from 'preact';

/** memoizeComponent returns a component that renders again only if its state or a prop has changed, by ===. */
export function memoizeComponent<P extends object>(drawComponent: (props: P) => ComponentChildren): ComponentType<P> {
  return class extends Component<P> {
    override shouldComponentUpdate(nextProps: Readonly<P>): boolean {
      return !hasSameProps(this.props, nextProps);
    }
    override render(): ComponentChildren {
      return createElement(drawComponent, this.props);
    }
  };
}

export function hasSameProps(previousProps: object, nextProps: object): boolean {
  const propEntries = Object.entries(previousProps);
  const previousByKey = new Map(Object.entries(nextProps));
  return (
    propEntries.length === previousByKey.size &&
    propEntries.every(([name, value]) => previousByKey.has(name) && previousByKey.get(name) === value)
  );
}
