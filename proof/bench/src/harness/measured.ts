/** What a benchmark or one part of it gave: for the JSON, and as text. */
export type Measured = { result: object; text: string }
