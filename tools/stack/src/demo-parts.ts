import { randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { freePort, isFreePort } from '@pitboss/engines/processes/free-port'
import { z } from 'zod'
import { projectFile } from './stack-services.ts'
import { readJson, writePrivateJson } from './state-file.ts'
import type { ProcessSpec } from './supervised-process.ts'

const portsSchema = z.strictObject({ wallet: z.int(), live_wallet: z.int(), receiver: z.int() })

export type DemoParts = {
  specs: ProcessSpec[]
  urls: { wallet: string; liveWallet: string; receiver: string }
}

/**
 * The sandbox wallets of both environments and the demo receiver. They keep their ports from start to start.
 */
export async function prepareDemoParts(dataDir: string): Promise<DemoParts> {
  const path = join(dataDir, 'demo-ports.json')
  const known = readJson(path, portsSchema)
  const ports = {
    wallet: await knownOrFree(known?.wallet),
    live_wallet: await knownOrFree(known?.live_wallet),
    receiver: await knownOrFree(known?.receiver),
  }
  writePrivateJson(path, ports)
  const folder = (name: string) => {
    const created = join(dataDir, name)
    mkdirSync(created, { recursive: true, mode: 0o700 })
    return created
  }
  const walletSpec = (name: string, port: number): ProcessSpec => {
    const walletDir = folder(name)
    return {
      name,
      replica: 1,
      entry: projectFile('tools/operator-kit/src/sandbox-wallet/main.ts'),
      httpUrl: `http://127.0.0.1:${port}`,
      environment: {
        WALLET_PORT: String(port),
        WALLET_DATA_DIR: walletDir,
        WALLET_SECRET_FILE: join(walletDir, 'secret.json'),
        // Nobody knows it: the true one arrives by PUT /sandbox/secret and lies in the file from then on.
        WALLET_SECRET: randomBytes(24).toString('base64url'),
      },
    }
  }
  return {
    urls: {
      wallet: `http://127.0.0.1:${ports.wallet}`,
      liveWallet: `http://127.0.0.1:${ports.live_wallet}`,
      receiver: `http://127.0.0.1:${ports.receiver}/webhooks`,
    },
    specs: [
      walletSpec('wallet', ports.wallet),
      walletSpec('live-wallet', ports.live_wallet),
      {
        name: 'receiver',
        replica: 1,
        entry: projectFile('tools/operator-kit/src/demo-receiver/main.ts'),
        httpUrl: `http://127.0.0.1:${ports.receiver}`,
        environment: { RECEIVER_PORT: String(ports.receiver), RECEIVER_DATA_DIR: folder('receiver') },
      },
    ],
  }
}

/** The port of the last start when it is still free, so that noted addresses stay good. */
async function knownOrFree(known: number | undefined): Promise<number> {
  return known !== undefined && (await isFreePort(known)) ? known : freePort()
}
