import type { Product } from '@pitboss/bench/harness/start-product'
import type { Restored } from '../check/restored.ts'
import type { Tenancy } from '../open-tenancies.ts'
import { copyDatabases, type RestorePlan, restoreDatabases } from './restored-database.ts'
import { createShareSecrets } from './share-secrets.ts'

/** Sets databases back once in a run and heals them. Wallets get the secrets of that time again. */
export async function restoreOnce(
  { services, ageMs }: RestorePlan,
  {
    product,
    tenancies,
    torment,
    ...given
  }: {
    product: Product
    tenancies: readonly Tenancy[]
    note: (text: string) => void
    unsent: () => Promise<string[]>
    /** Faults for so many ms. */
    torment: (ms: number) => Promise<void>
  },
): Promise<Restored> {
  const secrets = createShareSecrets(product.demo().base_url)
  // They are in the database of wallet-bridge.
  const owners = services.includes('wallet-bridge') ? tenancies : []
  const known = await Promise.all(owners.map(async (one) => [one, await secrets.rotate(one)] as const))
  const copies = await copyDatabases(services, { product, ...given })
  await torment(ageMs)
  return restoreDatabases(copies, {
    ...{ product, tenancies, ...given },
    async beforeStart() {
      for (const [owner, secret] of known) await secrets.tellWallet(owner, secret)
    },
  })
}
