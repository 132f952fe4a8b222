import type { ButtonHTMLAttributes, JSX } from "preact";

/** A codicon. Without `label` it is decoration. */
export function Icon({ name, label, spin }: { name: string; label?: string; spin?: boolean }): JSX.Element {
  return (
    <>
      <span class={`codicon codicon-${name}${spin ? " codicon-modifier-spin" : ""}`} aria-hidden="true" />
      {label !== undefined && <span class="hidden">{label} </span>}
    </>
  );
}

type ButtonProps = Omit<ButtonHTMLAttributes, "name" | "label">;

/** A button that shows only an icon; `label` is its name and its tooltip. */
export function IconButton({ name, label, ...rest }: { name: string; label: string } & ButtonProps): JSX.Element {
  return (
    <button type="button" class="icon-button" title={label} aria-label={label} {...rest}>
      <Icon name={name} />
    </button>
  );
}
