"""Running things under mpirun, within a time limit."""
import os
import subprocess
import time

from support import CommandLine

MPI = os.environ["QUADRAT_MPI"]
RANKS = os.environ["QUADRAT_RANKS"]
FAIL = os.environ["QUADRAT_FAIL"]


class OnRanks(CommandLine):
    def on_ranks(self, ranks, program, *words, limit=60, **more):
        """The result, with the seconds it took. A run that hangs is ended by ranks.sh with status 124."""
        environment = dict(os.environ, LIMIT=str(limit))
        start = time.monotonic()
        result = subprocess.run([RANKS, str(ranks), program, *map(str, words)], cwd=self.folder.name, capture_output=True,
                                text=True, env=environment, timeout=limit + 20, **more)
        result.seconds = time.monotonic() - start
        return result

    def mpi(self, ranks, *words, **more):
        return self.on_ranks(ranks, MPI, *words, **more)

    def ends(self, result, status, *says):
        """That exit status, one line of ours with all of `says`, and no hang."""
        self.assertEqual(result.returncode, status, result.stderr)
        lines = [line for line in result.stderr.splitlines() if line.strip()]
        self.assertEqual(len(lines), 1, result.stderr)
        for part in says:
            self.assertIn(part, lines[0])
        self.assertLess(result.seconds, 30)
