export type OpsPage<Row, Place> = { readonly data: readonly Row[]; readonly next: Place | null }

/**
 * The pages of a list that a service answers, each read when the one before has been used.
 * @param read asks for the page after a place; null is the beginning
 */
export async function* pagesOf<Row, Place>(
  read: (after: Place | null) => Promise<OpsPage<Row, Place>>,
): AsyncGenerator<readonly Row[]> {
  let after: Place | null = null
  do {
    const page: OpsPage<Row, Place> = await read(after)
    yield page.data
    after = page.next
  } while (after !== null)
}
