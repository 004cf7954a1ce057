import type { KeptDifference } from './objects/reconciliation.ts'

/**
 * Says in words what is wrong with a line of a ledger that has no counterpart among movements that moved
 * money. Source: docs/contract.md, section 3, "Reconciliation".
 * @param fields those of the difference: none where we have no movement of the id
 */
export function extraLineText(fields: KeptDifference['fields']): string {
  const of = (name: string) => fields.find(({ field }) => field === name)?.ours ?? null
  const [status, code] = [of('status'), of('wallet_code')]
  if (status === null) return 'We have no movement with this id.'
  const refused = code === null ? 'it moved no money.' : `the wallet refused it with ${code}.`
  return `Our record of this movement is ${status}: ${refused}`
}
