import type { Scope } from '@pitboss/contracts/caller'

/** The account of a record that both environments share. */
export type AccountScope = Pick<Scope, 'operatorId'>

/** The page of a list that is asked for. */
export type PageQuery = { readonly limit: number; readonly cursor?: string | undefined }
