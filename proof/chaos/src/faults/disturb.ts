import type { Product } from '@pitboss/bench/harness/start-product'
import type { ServiceLinks } from '../network/service-links.ts'
import type { Tenancy } from '../open-tenancies.ts'
import { disturbClocks } from './clock-faults.ts'
import type { Disturber } from './disturber.ts'
import { disturbStream } from './lost-stream.ts'
import { disturbNetwork } from './network-faults.ts'
import { disturbProcesses, type Torment } from './process-faults.ts'
import { disturbReceiver } from './receiver-faults.ts'
import { disturbSettings } from './settings-faults.ts'
import type { Restorable } from './restored-database.ts'
import { createShareSecrets } from './share-secrets.ts'
import { disturbDisk, type SmallDisk } from './small-disk.ts'
import { disturbWallet } from './wallet-faults.ts'

/** Place where the faults are to be thickest; none in particular unless told. */
export type Stress = {
  moods?: readonly string[]
  favourite?: string
  restore?: Restorable
  receiver?: readonly string[]
}

/** Probability that a wallet call travels twice. */
const doubledCalls = 0.05

/** All faults at once until the run ends; then nothing is disturbed any more. */
export async function disturb({
  product,
  tenancies,
  links,
  stress,
  withClocks,
  disk,
  lostStream,
  random,
  ...given
}: Disturber & {
  product: Product
  tenancies: readonly Tenancy[]
  links: ServiceLinks
  stress: Stress
  withClocks: boolean
  /** Disk of the broker that is to be filled; null for none. */
  disk: SmallDisk | null
  /** Whether the stream is to lose its tail. */
  lostStream: boolean
}): Promise<Torment> {
  const deps = (name: string) => ({ ...given, random: random.fork(name) })
  const demo = product.demo()
  const secrets = createShareSecrets(demo.base_url)
  const recorders = tenancies.flatMap((tenancy) => tenancy.recorders)
  for (const recorder of recorders) recorder.double(doubledCalls)
  const [torment] = await Promise.all([
    disturbProcesses({ product, ...deps('processes'), favourite: stress.favourite }),
    ...tenancies.map(({ name, walletUrl }) =>
      disturbWallet({
        walletUrl,
        ...deps(name === 'test' ? 'wallet' : `wallet ${name}`),
        moods: stress.moods,
      }),
    ),
    disturbReceiver({ receiverUrl: demo.receiver.url, names: stress.receiver, ...deps('receiver') }),
    disturbNetwork({ links, ...deps('network') }),
    withClocks ? disturbClocks({ links, ...deps('clocks') }) : null,
    disturbSettings({
      ...{ tenancies, baseUrl: demo.base_url, dataDir: product.dataDir, secrets },
      ...deps('settings'),
    }),
    disk === null ? null : disturbDisk({ product, disk, ...deps('disk') }),
    lostStream ? disturbStream({ product, ...deps('stream') }) : null,
  ])
  links.calm()
  for (const recorder of recorders) recorder.double(0)
  await secrets.settle()
  return torment
}
