import type { Scope } from '@pitboss/contracts/caller'

/** Whose a thing is that an account has for both environments. */
export type AccountScope = Pick<Scope, 'operatorId'>

/** Which page of a list is wanted. */
export type PageQuery = { readonly limit: number; readonly cursor?: string | undefined }
