/** Result of a benchmark or one part of it: for the JSON, and as text. */
export type Measured = { result: object; text: string }
