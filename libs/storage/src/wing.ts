import type { IndexDeclaration } from './ensure-indexes.ts'
import type { SealedPlace } from './rewrite-seals.ts'

/** Declares what a part of a service has in the database. */
export type Declarations = {
  readonly indexes?: Readonly<Record<string, readonly IndexDeclaration[]>>
  /** Collections whose changes are audited. */
  readonly audited?: readonly string[]
  readonly seals?: readonly SealedPlace[]
}

/** A part that the core does without: neither the core nor another wing imports it; the app mounts it. */
export type Wing<Core, Given, Open> = Declarations & {
  /** Adds the wing's stores to the core's context, and binds calls, hooks and workers to it. */
  open(core: Core, given: Given): Open
}

/** Joins the declarations of the core and its wings. */
export function joinDeclarations(parts: readonly Declarations[]): Required<Declarations> {
  return {
    indexes: Object.assign({}, ...parts.map(({ indexes }) => indexes)),
    audited: parts.flatMap(({ audited = [] }) => audited),
    seals: parts.flatMap(({ seals = [] }) => seals),
  }
}
