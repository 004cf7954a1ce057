import { roundIndexes } from '@pitboss/rounds/storage/round-lists'
import type { IndexDeclaration } from '@pitboss/storage/ensure-indexes'
import { movementIndexes } from '@pitboss/wallet-bridge/storage/listed-movements'

/** The product's own indexes: a write of the floor includes them, too. */
export const floorIndexes: Readonly<Record<string, readonly IndexDeclaration[]>> = {
  commitments: [],
  rounds: roundIndexes,
  ...movementIndexes,
}
