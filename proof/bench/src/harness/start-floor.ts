import type { Cleanup } from './cleanup.ts'
import type { Side } from './run-pairs.ts'
import { sampleSchema } from './sample-schema.ts'
import type { BenchEngines } from './start-engines.ts'
import { startPart } from './start-part.ts'

const answerMarginMs = 60_000

/** Starts a process that does `serveFloor`, as the side that the product is measured against. */
export async function startFloor(
  entry: string,
  { engines, walletUrl }: { engines: BenchEngines; walletUrl: string },
  cleanup: Cleanup,
): Promise<Side> {
  const environment = {
    MONGODB_URL: engines.mongodbUrl,
    NATS_URL: engines.natsUrl.floor,
    WALLET_URL: walletUrl,
  }
  const { part } = await startPart(entry, environment, cleanup)
  return async (concurrency, durationMs) =>
    sampleSchema.parse(await part.ask({ concurrency, durationMs }, durationMs + answerMarginMs))
}
