import { MongoClient } from 'mongodb'
import { EngineError, reasonOf } from '../engine-error.ts'

const timeoutMs = 5_000

/**
 * The version of a MongoDB that somebody else runs.
 * @throws EngineError when it does not answer within 5 s.
 */
export async function mongoServerVersion(url: string): Promise<string> {
  let client: MongoClient | null = null
  try {
    client = new MongoClient(url, { serverSelectionTimeoutMS: timeoutMs, connectTimeoutMS: timeoutMs })
    const { version } = await client.db('admin').command({ buildInfo: 1 })
    return String(version)
  } catch (error) {
    throw new EngineError(`the database of MONGODB_URL cannot be used: ${reasonOf(error)}`)
  } finally {
    await client?.close()
  }
}
