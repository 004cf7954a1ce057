import type { QueryValues } from '../api/create-api.ts'

/** A word for a POSIX shell that means exactly this text. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** A read of the API as a command; the token comes from the shell, so that none is copied around. */
export function curlText(origin: string, path: string, query: QueryValues): string {
  const values = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === null || value === ''
      ? []
      : [`--data-urlencode ${quoted(`${name}=${value}`)}`],
  )
  const words = [
    `curl --get ${quoted(`${origin}/v1/${path}`)}`,
    `-H "authorization: Bearer $PITBOSS_TOKEN"`,
    ...values,
  ]
  return words.join(' \\\n  ')
}
