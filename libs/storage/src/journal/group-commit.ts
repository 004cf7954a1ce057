import { createCommandTurns } from '../command-turns.ts'

/** Whether a document was inserted, or one with its `_id` was there first. */
export type Landed = 'inserted' | 'present'

type Waiting<Document, Follower> = {
  readonly documents: readonly Document[]
  readonly followers: readonly Follower[]
  readonly untilMs: number
  readonly decide: (landed: readonly Landed[] | 'unknown') => void
}

const bytesMax = 1_048_576
const goesOnMs = 30_000
const leastRestMs = 100
const mostRestMs = 2000

/**
 * Inserts of one process into one collection, gathered: one command is under way, and a second one while the
 * first is older than 10 ms; what arrives meanwhile is the next, at most 128 documents or 1 MiB. No timer:
 * a single caller waits for nothing. Source: ours.
 */
export function createGroupCommit<Document extends { readonly _id: string }, Follower = never>({
  insert,
  bytesOf,
  documentsMax = 128,
  commandsMax = 2,
  mayGo = () => true,
  steadyMs = () => performance.now(),
}: {
  /**
   * One command; followers may be inserted with it, and only where all documents are.
   * @throws when it is not known what of it stands
   */
  insert: (documents: readonly Document[], followers: readonly Follower[]) => Promise<readonly Landed[]>
  /** The size of a document in bytes, about. */
  bytesOf: (document: Document) => number
  /** Most documents of one command. */
  documentsMax?: number
  /** Most commands under way. */
  commandsMax?: number
  /** Asked right before a command; documents that may not go any more stay of unknown fate. */
  mayGo?: (document: Document) => boolean
  /** Milliseconds of a clock that never jumps. */
  steadyMs?: () => number
}) {
  let queue: Waiting<Document, Follower>[] = []
  const counts = { commands: 0, documents: 0 }
  /** Commands in a row that failed. */
  let failures = 0
  const turns = createCommandTurns({ isWaiting: () => queue.length > 0, begin, commandsMax, steadyMs })
  function begin(): Promise<void> | null {
    const nowMs = steadyMs()
    queue = queue.filter(({ untilMs }) => nowMs < untilMs + goesOnMs)
    for (const late of queue.filter(({ documents }) => !documents.every(mayGo))) late.decide('unknown')
    queue = queue.filter(({ documents }) => documents.every(mayGo))
    return queue.length === 0 ? null : send(takeGroup())
  }

  function takeGroup(): Waiting<Document, Follower>[] {
    let documents = 0
    let bytes = 0
    const last = queue.findIndex((each) => {
      documents += each.documents.length
      bytes += each.documents.reduce((sum, document) => sum + bytesOf(document), 0)
      return documents > documentsMax || bytes > bytesMax
    })
    // One that is too large by itself goes alone.
    const group = queue.slice(0, last === -1 ? queue.length : Math.max(1, last))
    queue = queue.slice(group.length)
    return group
  }

  async function send(group: readonly Waiting<Document, Follower>[]): Promise<void> {
    // In one order in every process, two that race for the same keys never wait for each other in a circle.
    const documents = group.flatMap((each) => each.documents).toSorted((a, b) => (a._id < b._id ? -1 : 1))
    counts.commands++
    counts.documents += documents.length
    try {
      const landed = await insert(
        documents,
        group.flatMap((each) => each.followers),
      )
      const fates = new Map(documents.map((document, index) => [document, landed[index]]))
      failures = 0
      for (const each of group) each.decide(each.documents.map((document) => known(fates.get(document))))
    } catch {
      rest(group)
    }
  }

  /** The same bytes again, a little later; what follows them is left to others. */
  function rest(group: readonly Waiting<Document, Follower>[]): void {
    turns.rest(Math.min(mostRestMs, leastRestMs * 2 ** failures))
    failures++
    queue = [...group.map((each) => ({ ...each, followers: [] })), ...queue]
  }

  return {
    /**
     * Inserts documents together, in the next command that goes out. What a lost answer leaves open is
     * inserted again, byte for byte, until it is known.
     * @param untilMs of the steady clock
     * @param followers inserted after the documents in the same command, or not at all
     * @returns the fate of each document; `unknown` when that is not known by then: the group goes on for 30 s
     */
    insert(
      documents: readonly Document[],
      untilMs: number,
      followers: readonly Follower[] = [],
    ): Promise<readonly Landed[] | 'unknown'> {
      const { promise, resolve } = Promise.withResolvers<readonly Landed[] | 'unknown'>()
      const late = setTimeout(resolve, Math.max(0, untilMs - steadyMs()), 'unknown')
      queue.push({ documents, followers, untilMs, decide: resolve })
      turns.plan()
      return promise.finally(() => clearTimeout(late))
    },
    counts: () => ({ ...counts }),
  }
}

function known(landed: Landed | undefined): Landed {
  if (landed === undefined) throw new Error('the insert told nothing of a document')
  return landed
}
