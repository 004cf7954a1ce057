import type { QueryValues } from '../api/create-api.ts'

/** The route of a write, its path below `/v1/`. */
export type Write = { readonly method: 'POST' | 'PUT' | 'PATCH'; readonly path: string }

/** A word for a POSIX shell that means exactly this text. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** A write of the API as a command, with its body as JSON. */
export function curlOfWrite(origin: string, { method, path }: Write, body: unknown): string {
  return [
    `curl --request ${method} ${quoted(`${origin}/v1/${path}`)}`,
    `-H "authorization: Bearer $PITBOSS_TOKEN"`,
    `-H 'content-type: application/json'`,
    `--data-raw ${quoted(JSON.stringify(body))}`,
  ].join(' \\\n  ')
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
