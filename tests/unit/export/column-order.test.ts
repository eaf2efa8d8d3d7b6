/**
 * Columns of an export of iterations have the places that they have: programs of users read them by
 * number. A field that comes later has its column behind all of these.
 */
import { expect, test } from 'vitest';
import {
  COLUMN_FIELDS,
  iterationColumns,
} from '../../../src/export/tables/iteration-columns.ts';
import type { RunSummary } from '../../../src/shared/rpc/run-summary.ts';

const PINNED = `iteration rank at_ms wall_ms data_ms compute_ms forward_ms backward_ms
activations_ms bubble_ms compress_ms send_ms receive_ms wait_ms reduce_ms decompress_ms apply_ms
other_ms waited_for_0_ms waited_for_1_ms overlapped_ms dense_bytes payload_bytes wire_sent_bytes
wire_received_bytes framing_sent_bytes framing_received_bytes activations_dense_bytes
activations_payload_bytes nnz_local nnz_reduced density residual_norm loss metric lr epoch method
collective staleness trainer_thread drained exchanged activations_thresholds threshold_refreshes
clipped evaluation_loss evaluation_metric evaluation_averaged_loss evaluation_averaged_metric
evaluation_samples evaluation_wall_ms emulated`.split(/\s/);

const names = iterationColumns({ ranks: 2 } as RunSummary).map(({ name }) => name);

test('the columns of the first versions stay where they are', () => {
  expect(names.slice(0, PINNED.length)).toEqual(PINNED);
});

test('every later field has a place of its own, so that another one does not move it', () => {
  const later = COLUMN_FIELDS.map(({ field }) => field.place).filter(
    (place) => place > 1,
  );
  expect(new Set(later).size).toBe(later.length);
  for (const place of later) expect(place).toBeGreaterThan(2);
  expect(names).toHaveLength(PINNED.length + later.length);
});
